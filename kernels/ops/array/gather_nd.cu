// GatherNd, ResourceGatherNd and ScatterNd on GPUs: see gather_nd.cpp.
#include "kernels/ops/array/gather_nd.h"

#include "kernels/gpu/copy.h"
#include "kernels/gpu/indices.h"
#include "kernels/gpu/sorted_rows.h"
#include "kernels/gpu/storage.h"
#include "kernels/gpu/units.h"
#include "kernels/loops/rows.h"

namespace troupe {
namespace {

/// Moves unit i of the output.
template <class T>
struct GatherUnitsAt {
  const T* params;
  T* output;
  gpu::Positions positions;
  gpu::Divider row;  ///< in units

  TROUPE_ANY void operator()(size_t i) const {
    const size_t k = row.quotient(i), column = i - k * row.divisor();
    const int64_t from = positions(k);
    output[i] = from < 0 ? T{} : params[static_cast<size_t>(from) * row.divisor() + column];
  }
};

/// Returns the number of elements of the rows that the positions in `indices` select.
size_t row_at(const Tensor& indices, std::span<const int64_t> dims) {
  return count_of(dims.subspan(static_cast<size_t>(indices.shape().dims().back())));
}

Status compute_gather_nd(const GatherNdArguments& arguments, DeviceContext& device) {
  const auto& [params, indices, output] = arguments;
  if (output.elements() == 0) return {};
  const size_t row = row_at(indices, params.shape().dims()), element = size_of(params.dtype());
  const size_t unit = gpu::unit_of_rows(element, row, params.data(), output.data());
  TROUPE_ASSIGN(const auto positions, gpu::Positions::make(device, indices, params.shape().dims()));
  TROUPE_RETURN_IF_FAILED(gpu::with_unit(unit, [&]<class T>(std::type_identity<T>) {
    const size_t n = static_cast<size_t>(arguments.output.elements()) * element / unit;
    return gpu::each(device, n,
                     GatherUnitsAt<T>{gpu::stored<T>(arguments.params), gpu::stored<T>(arguments.output),
                                      positions, gpu::Divider(row * element / unit)});
  }));
  return gpu::check_fault(device);
}

Status compute_scatter_nd(const ScatterNdArguments& arguments, DeviceContext& device) {
  Tensor& output = arguments.output;
  const auto dims = output.shape().dims();
  TROUPE_RETURN_IF_FAILED(gpu::fill_with(device, nullptr, output));
  const size_t row = row_at(arguments.indices, dims);
  if (arguments.updates.elements() == 0) return {};
  const size_t n = static_cast<size_t>(arguments.updates.elements()) / row;
  TROUPE_ASSIGN(const auto positions, gpu::Positions::make(device, arguments.indices, dims));
  TROUPE_RETURN_IF_FAILED(
      gpu::for_type(gpu::AllFloats{}, output.dtype(), [&]<class T>(std::type_identity<T>) {
        return gpu::combine_rows<gpu::Add>(device, n, row, positions, arguments.updates.as<T>().data(),
                                           static_cast<size_t>(output.elements()) / row,
                                           output.write<T>().data());
      }));
  return gpu::check_fault(device);
}

}  // namespace

void add_gather_nd_on_gpu(OpLibrary& library) {
  const auto types = dtypes(gpu::MovedTypesAndIntegers{});
  library.kernel(gpu_kernel("GatherNd", check_gather_nd, compute_gather_nd).on("Tparams", types));
  library.kernel(gpu_kernel("ResourceGatherNd", check_gather_nd, compute_gather_nd).on("dtype", types));
  library.kernel(
      gpu_kernel("ScatterNd", check_scatter_nd, compute_scatter_nd).on("T", dtypes(gpu::AllFloats{})));
}

}  // namespace troupe
