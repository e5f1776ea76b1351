// DynamicStitch and ParallelDynamicStitch on GPUs: see dynamic_partition.cpp.
#include "kernels/ops/array/dynamic_partition.h"

#include "kernels/gpu/row_sources.h"
#include "kernels/gpu/storage.h"

namespace troupe {
namespace {

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

void add_dynamic_stitch_on_gpu(OpLibrary& library) {
  for (const char* op : {"DynamicStitch", "ParallelDynamicStitch"})
    library.kernel(
        gpu_kernel(op, check_dynamic_stitch, compute_dynamic_stitch).on("T", dtypes(gpu::MovedTypes{})));
}

}  // namespace troupe
