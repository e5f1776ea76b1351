// The values of a sparse tensor combined with the elements of a dense one at their positions; the output is the new values.
//   SparseDenseCwiseAdd, SparseDenseCwiseMul, SparseDenseCwiseDiv(sp_indices, sp_values, sp_shape, dense)
// The dense tensor broadcasts to sp_shape, never the sparse one. Any number; integers wrap around, their quotients are
// truncated. half and bfloat16 are computed in float. Fails with InvalidArgument for a position outside sp_shape, or a zero by
// which an integer would be divided.
#include <algorithm>

#include "graph/build/gradients.h"
#include "kernels/constructors.h"
#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/arithmetic.h"
#include "kernels/loops/strided_copy.h"
#include "kernels/ops/broadcast_gradients.h"
#include "kernels/ops/sparse/sparse_tensor.h"

namespace troupe {
namespace {

struct CwiseArguments {
  SparseTensor input;
  const Tensor& dense;
  Dims strides;  ///< of the dense tensor, for each dimension of the sparse one; 0 where it broadcasts
  Tensor& output;
};

Status cwise_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto indices, sparse_shape(context, SparseInputs::from(0)));
  context.set_output(0, PartialShape{indices[0]});
  return {};
}

/// Returns the strides of a dense tensor that broadcasts to `dims`.
Result<Dims> broadcast_strides(const Dims& dims, const Shape& dense) {
  Dims strides(dims.size());
  bool fits = dense.rank() <= dims.size();
  const size_t added = fits ? dims.size() - dense.rank() : 0;
  const Dims own = strides_of(dense.dims());
  for (size_t d = 0; fits && d < dense.rank(); ++d) {
    fits = dense[d] == dims[added + d] || dense[d] == 1;
    if (dense[d] != 1) strides[added + d] = own[d];
  }
  if (fits) return strides;
  return invalid_argument("dense of shape " + dense.text() + " does not broadcast to sp_shape " +
                          text_of(dims));
}

Result<CwiseArguments> check_cwise(KernelContext& context) {
  TROUPE_ASSIGN(SparseTensor input, read_sparse(context, SparseInputs::from(0)));
  const Tensor& dense = context.input(3);
  TROUPE_ASSIGN(Dims strides, broadcast_strides(input.dims, dense.shape()));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, input.values.shape()));
  return CwiseArguments{std::move(input), dense, std::move(strides), *output};
}

/// Fails with InvalidArgument if an element of the dense tensor at one of the places is 0.
template <class T>
Status check_divisors(const Tensor& dense, std::span<const int64_t> places) {
  const auto elements = dense.as<T>();
  const auto found =
      std::ranges::find_if(places, [&](int64_t at) { return elements[static_cast<size_t>(at)] == 0; });
  if (found == places.end()) return {};
  return invalid_argument("integer division by zero at " + element_name("dense", dense.shape(), *found) +
                          " of " + dense.signature());
}

template <class Function, class T>
Status compute_cwise_of(const CwiseArguments& arguments, std::span<const int64_t> places, Pool& pool) {
  using Computed = ComputeType<T>;
  if constexpr (std::is_integral_v<T> && std::is_same_v<Function, Div>)
    TROUPE_RETURN_IF_FAILED(check_divisors<T>(arguments.dense, places));
  const auto values = arguments.input.values.as<T>(), dense = arguments.dense.as<T>();
  const auto output = arguments.output.write<T>();
  parallel_items(pool, places.size(), 8 + 3 * sizeof(T), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
      output[i] = T(Function::apply(static_cast<Computed>(values[i]),
                                    static_cast<Computed>(dense[static_cast<size_t>(places[i])])));
  });
  return {};
}

template <class Function>
Status compute_cwise(const CwiseArguments& arguments, DeviceContext& device) {
  TROUPE_ASSIGN(const Tensor places, offsets_of(device, arguments.input, arguments.strides));
  Status status;
  with_type(NumberTypes{}, arguments.output.dtype(), [&]<class T>(std::type_identity<T>) {
    status = compute_cwise_of<Function, T>(arguments, places.as<int64_t>(), device.pool());
  });
  return status;
}

// ---- Gradients

/// Returns the positions in the dense tensor to which those in the sparse one belong: without the dimensions that the dense one
/// does not have, and 0 where its dimension is 1.
Output positions_in_dense(const Scope& scope, Output indices, Output sparse_shape, Output dense_shape) {
  const Output added =
      sub(scope, scope.add_one("Size", {sparse_shape}), scope.add_one("Size", {dense_shape}));
  const Output zero = integer_constants(scope, Dims{0});
  const Output begin = concat(scope, {zero, expand_dims(scope, added, 0)}, 0);
  const Output own = scope.add_one("Slice", {indices, begin, integer_constants(scope, Dims{-1, -1})});
  const Output one = integer_constant(scope, 1, DType::Int64);
  return mul(scope, own, cast(scope, scope.add_one("NotEqual", {dense_shape, one}), DType::Int64));
}

/// For the gradients of the output by the value and by the dense element at its place, both for each value.
template <bool divides>
void cwise_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output x = context.input(1), dense = context.input(3), g = context.gradient();
  const Output shape = scope.add_one("Shape", {dense}, {{"out_type", DType::Int64}});
  const Output positions = positions_in_dense(scope, context.input(0), context.input(2), shape);
  const Output y = scope.add_one("GatherNd", {dense, positions});
  const Output by_x = divides ? div(scope, ones_like(scope, y), y) : y;
  const Output by_y = divides ? neg(scope, div(scope, div(scope, x, y), y)) : x;
  context.set(1, mul(scope, g, conjugate(scope, by_x)));
  context.set(3, scope.add_one("SparseTensorDenseAdd", {positions, mul(scope, g, conjugate(scope, by_y)),
                                                        shape, zeros_like(scope, dense)}));
}

}  // namespace

void add_sparse_dense_cwise_ops(OpLibrary& library) {
  const auto add = [&](const char* name, const char* constructor, auto compute, GradientFunction gradient) {
    library.op(OpDefBuilder(name)
                   .input("sp_indices: int64")
                   .input("sp_values: T")
                   .host_input("sp_shape: int64")
                   .input("dense: T")
                   .output("output: T")
                   .attr("T: numbertype")
                   .constructor(constructor + std::string("(sp_indices, sp_values, sp_shape, dense)"))
                   .shape(cwise_shape)
                   .gradient(gradient));
    library.kernel(cpu_kernel(name, check_cwise, compute));
  };
  add("SparseDenseCwiseAdd", "sparse_dense_cwise_add", compute_cwise<Add>, nullptr);
  add("SparseDenseCwiseMul", "sparse_dense_cwise_mul", compute_cwise<Mul>, cwise_gradient<false>);
  add("SparseDenseCwiseDiv", "sparse_dense_cwise_div", compute_cwise<Div>, cwise_gradient<true>);
}

}  // namespace troupe
