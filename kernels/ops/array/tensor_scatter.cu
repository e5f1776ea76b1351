// Tensors with rows changed at positions, on GPUs: see tensor_scatter.cpp.
#include "kernels/ops/array/tensor_scatter.h"

#include "kernels/gpu/copy.h"
#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/indices.h"
#include "kernels/gpu/sorted_rows.h"
#include "kernels/loops/rows.h"

namespace troupe {
namespace {

/// The rows that a vector numbers.
struct RowsModulo {
  gpu::Indices numbers;
  int64_t rows;
  TROUPE_ANY int64_t operator()(size_t i) const { return row_modulo(numbers(i), rows); }
};

Status copy_tensor(const TensorScatterArguments& arguments, DeviceContext& device) {
  return arguments.tensor ? gpu::copy_all(device, *arguments.tensor, arguments.output) : Status();
}

/// Combines rows of `row` elements of the output with the updates.
template <class F, class Rule>
Status combine_rows(const TensorScatterArguments& arguments, DeviceContext& device, size_t row,
                    const Rule& rule) {
  Tensor& output = arguments.output;
  const size_t n = static_cast<size_t>(arguments.updates.elements()) / row;
  return gpu::for_type(gpu::AllFloats{}, output.dtype(), [&]<class T>(std::type_identity<T>) {
    return gpu::combine_rows<F>(device, n, row, rule, arguments.updates.as<T>().data(),
                                static_cast<size_t>(output.elements()) / row, output.write<T>().data());
  });
}

template <class F>
Status compute_scatter(const TensorScatterArguments& arguments, DeviceContext& device) {
  const auto dims = arguments.output.shape().dims();
  TROUPE_RETURN_IF_FAILED(copy_tensor(arguments, device));
  if (arguments.updates.elements() == 0) return {};
  const auto depth = static_cast<size_t>(arguments.indices.shape().dims().back());
  TROUPE_ASSIGN(const auto positions, gpu::Positions::make(device, arguments.indices, dims));
  TROUPE_RETURN_IF_FAILED(combine_rows<F>(arguments, device, count_of(dims.subspan(depth)), positions));
  return gpu::check_fault(device);
}

template <class F>
Status compute_inplace(const TensorScatterArguments& arguments, DeviceContext& device) {
  const auto dims = arguments.output.shape().dims();
  TROUPE_RETURN_IF_FAILED(copy_tensor(arguments, device));
  if (arguments.updates.elements() == 0 || dims[0] == 0) return {};
  return combine_rows<F>(arguments, device, count_of(dims.subspan(1)),
                         RowsModulo{gpu::Indices(arguments.indices), dims[0]});
}

}  // namespace

void add_tensor_scatter_on_gpu(OpLibrary& library) {
  const auto add_with = [&](auto check, const char* op, auto compute) {
    library.kernel(gpu_kernel(op, check, compute).on("T", dtypes(gpu::AllFloats{})));
  };
  add_with(check_inplace, "InplaceAdd", compute_inplace<gpu::Add>);
  add_with(check_inplace, "InplaceSub", compute_inplace<gpu::Sub>);
  add_with(check_inplace, "InplaceUpdate", compute_inplace<gpu::Later>);
  const auto add = [&](const char* op, auto compute) { add_with(check_tensor_scatter, op, compute); };
  add("ScatterNdNonAliasingAdd", compute_scatter<gpu::Add>);
  add("TensorScatterAdd", compute_scatter<gpu::Add>);
  add("TensorScatterMax", compute_scatter<gpu::Maximum>);
  add("TensorScatterMin", compute_scatter<gpu::Minimum>);
  add("TensorScatterSub", compute_scatter<gpu::Sub>);
  add("TensorScatterUpdate", compute_scatter<gpu::Later>);
}

}  // namespace troupe
