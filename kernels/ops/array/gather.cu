// Gather, GatherV2 and ResourceGather on GPUs: see gather.cpp.
#include "kernels/ops/array/gather.h"

#include "kernels/gpu/divider.h"
#include "kernels/gpu/indices.h"
#include "kernels/gpu/storage.h"
#include "kernels/gpu/units.h"

namespace troupe {
namespace {

/// Moves unit i of the output.
template <class T>
struct GatherUnits {
  const T* params;
  T* output;
  gpu::Indices indices;
  gpu::FaultReport report;
  gpu::Divider row, list, blocks_of_list;  ///< in units, in rows, in blocks
  size_t rows;

  TROUPE_ANY void operator()(size_t i) const {
    const size_t to_row = row.quotient(i), column = i - to_row * row.divisor();
    const size_t block = list.quotient(to_row), k = to_row - block * list.divisor();
    const int64_t index = indices(blocks_of_list.quotient(block) * list.divisor() + k);
    if (index < 0 || static_cast<size_t>(index) >= rows) {
      report(index, static_cast<int64_t>(rows));
      output[i] = T{};
    } else {
      output[i] = params[(block * rows + static_cast<size_t>(index)) * row.divisor() + column];
    }
  }
};

Status compute_gather(const GatherArguments& arguments, DeviceContext& device) {
  const auto& [params, indices, output, slices] = arguments;
  if (output.elements() == 0) return {};
  const size_t element = size_of(params.dtype());
  const size_t unit = gpu::unit_of_rows(element, slices.row, params.data(), output.data());
  const size_t list = static_cast<size_t>(indices.elements()) / slices.lists;
  const gpu::FaultReport report = gpu::fault_report(device, "indices = {} is not in [0, {})");
  TROUPE_RETURN_IF_FAILED(gpu::with_unit(unit, [&]<class T>(std::type_identity<T>) {
    const size_t n = static_cast<size_t>(arguments.output.elements()) * element / unit;
    return gpu::each(device, n,
                     GatherUnits<T>{gpu::stored<T>(arguments.params), gpu::stored<T>(arguments.output),
                                    gpu::Indices(arguments.indices), report,
                                    gpu::Divider(arguments.slices.row * element / unit), gpu::Divider(list),
                                    gpu::Divider(arguments.slices.blocks / arguments.slices.lists),
                                    arguments.slices.rows});
  }));
  return gpu::check_fault(device);
}

}  // namespace

void add_gather_on_gpu(OpLibrary& library) {
  const auto types = dtypes(gpu::MovedTypes{});
  for (const char* op : {"Gather", "GatherV2"})
    library.kernel(gpu_kernel(op, check_gather, compute_gather).on("Tparams", types));
  library.kernel(gpu_kernel("ResourceGather", check_gather, compute_gather).on("dtype", types));
}

}  // namespace troupe
