// Tensors with rows changed at positions, on GPUs: see tensor_scatter.cpp.
#include "kernels/ops/array/tensor_scatter.h"

#include "kernels/gpu/copy.h"
#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/indices.h"
#include "kernels/gpu/sorted_rows.h"
#include "kernels/loops/rows.h"

namespace troupe {
namespace {

template <class F>
Status compute_scatter(const TensorScatterArguments& arguments, DeviceContext& device) {
  Tensor& output = arguments.output;
  const auto dims = output.shape().dims();
  if (arguments.tensor) TROUPE_RETURN_IF_FAILED(gpu::copy_all(device, *arguments.tensor, output));
  if (arguments.updates.elements() == 0) return {};
  const size_t row = count_of(dims.subspan(static_cast<size_t>(arguments.indices.shape().dims().back())));
  const size_t n = static_cast<size_t>(arguments.updates.elements()) / row;
  TROUPE_ASSIGN(const auto positions, gpu::Positions::make(device, arguments.indices, dims));
  TROUPE_RETURN_IF_FAILED(
      gpu::for_type(gpu::AllFloats{}, output.dtype(), [&]<class T>(std::type_identity<T>) {
        return gpu::combine_rows<F>(device, n, row, positions, arguments.updates.as<T>().data(),
                                    static_cast<size_t>(output.elements()) / row, output.write<T>().data());
      }));
  return gpu::check_fault(device);
}

}  // namespace

void add_tensor_scatter_on_gpu(OpLibrary& library) {
  const auto add = [&](const char* op, auto compute) {
    library.kernel(gpu_kernel(op, check_tensor_scatter, compute).on("T", dtypes(gpu::AllFloats{})));
  };
  add("ScatterNdNonAliasingAdd", compute_scatter<gpu::Add>);
  add("TensorScatterAdd", compute_scatter<gpu::Add>);
  add("TensorScatterMax", compute_scatter<gpu::Maximum>);
  add("TensorScatterMin", compute_scatter<gpu::Minimum>);
  add("TensorScatterSub", compute_scatter<gpu::Sub>);
  add("TensorScatterUpdate", compute_scatter<gpu::Later>);
}

}  // namespace troupe
