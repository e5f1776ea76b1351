// DynamicPartition, DynamicStitch and ParallelDynamicStitch on GPUs: see dynamic_partition.cpp.
#include "kernels/ops/array/dynamic_partition.h"

#include "kernels/gpu/row_sources.h"
#include "kernels/gpu/storage.h"

namespace troupe {
namespace {

Status compute_dynamic_partition(const DynamicPartitionArguments& arguments, DeviceContext& device) {
  const auto& [data, partitions, parts, row] = arguments;
  if (data.elements() == 0) return {};
  const size_t bytes = row * size_of(data.dtype());
  std::vector<std::vector<const std::byte*>> sources(parts.size());
  const std::byte* from = data.data();
  for (const int32_t part : partitions.as<int32_t>()) {
    sources[static_cast<size_t>(part)].push_back(from);
    from += bytes;
  }
  for (size_t k = 0; k < parts.size(); ++k)
    TROUPE_RETURN_IF_FAILED(gpu::copy_rows(device, sources[k], row, parts[k]));
  return {};
}

/// Of rows with equal index the last one counts.
Status compute_dynamic_stitch(const DynamicStitchArguments& arguments, DeviceContext& device) {
  const auto& [indices, data, merged, row] = arguments;
  if (merged.elements() == 0) return {};
  const size_t bytes = row * size_of(merged.dtype());
  std::vector<const std::byte*> sources(static_cast<size_t>(merged.shape()[0]));
  for (size_t i = 0; i < indices.size(); ++i) {
    const std::byte* from = data[i].tensor.data();
    for (const int32_t to : indices[i].tensor.as<int32_t>()) {
      sources[static_cast<size_t>(to)] = from;
      from += bytes;
    }
  }
  return gpu::copy_rows(device, sources, row, merged);
}

}  // namespace

void add_dynamic_partition_on_gpu(OpLibrary& library) {
  library.kernel(gpu_kernel("DynamicPartition", check_dynamic_partition, compute_dynamic_partition)
                     .on("T", dtypes(gpu::MovedTypes{})));
  for (const char* op : {"DynamicStitch", "ParallelDynamicStitch"})
    library.kernel(
        gpu_kernel(op, check_dynamic_stitch, compute_dynamic_stitch).on("T", dtypes(gpu::MovedTypes{})));
}

}  // namespace troupe
