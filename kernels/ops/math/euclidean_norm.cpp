// EuclideanNorm(input, reduction_indices): the square root of the sum of the squares of |x| over axes, which are given as
// those of the reductions (reductions.cpp). Any number. half and bfloat16 are summed in float. Squares and sums of integers
// wrap around, and the root is truncated; that of a negative sum is 0. The norm of no elements is 0.
#include "kernels/ops/math/euclidean_norm.h"

#include <cmath>

#include "graph/build/gradients.h"
#include "kernels/constructors.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/arithmetic.h"

namespace troupe {
namespace {

template <class T>
T square(T x) {
  if constexpr (is_complex_type<T>)
    return T(std::norm(x));
  else
    return Mul::apply(x, x);
}

template <class T>
T root(T sum) {
  if constexpr (is_complex_type<T>)
    return T(std::sqrt(sum.real()));
  else if constexpr (std::is_floating_point_v<T>)
    return std::sqrt(sum);
  else
    return sum < T{0} ? T{0} : static_cast<T>(std::sqrt(static_cast<double>(sum)));
}

/// Sets to[i] = function(from[i]), computed in type C.
template <class C, class From, class To, class Function>
void map(Pool& pool, std::span<const From> from, std::span<To> to, const Function& function) {
  parallel_items(pool, to.size(), sizeof(From) + sizeof(To), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) to[i] = To(function(static_cast<C>(from[i])));
  });
}

template <class T>
Status compute_norm_of(const EuclideanNormArguments& arguments, DeviceContext& device) {
  using C = ComputeType<T>;
  Pool& pool = device.pool();
  TROUPE_ASSIGN(Tensor squares, Tensor::allocate(dtype_of<C>, arguments.input.shape(), device.memory()));
  map<C>(pool, arguments.input.as<T>(), squares.write<C>(), square<C>);
  TROUPE_ASSIGN(Tensor sums, Tensor::allocate(dtype_of<C>, arguments.output.shape(), device.memory()));
  TROUPE_RETURN_IF_FAILED(reduce(device, sum_reducer(dtype_of<C>), squares, arguments.reduced, sums));
  map<C>(pool, std::as_const(sums).as<C>(), arguments.output.write<T>(), root<C>);
  return {};
}

Status compute_norm(const EuclideanNormArguments& arguments, DeviceContext& device) {
  Status status;
  if (arguments.output.elements() == 0) return status;
  with_type(NumberTypes{}, arguments.input.dtype(),
            [&]<class T>(std::type_identity<T>) { status = compute_norm_of<T>(arguments, device); });
  return status;
}

void norm_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output norm = with_kept_axes(context, context.output(0)),
               gradient = with_kept_axes(context, context.gradient());
  context.set(0, div(scope, context.input(0), div(scope, norm, gradient)));
}

}  // namespace

Result<EuclideanNormArguments> check_euclidean_norm(KernelContext& context) {
  const Tensor& input = context.input(0);
  TROUPE_ASSIGN(const Dims axes, listed_axes(context.input(1)));
  TROUPE_ASSIGN(const ReductionAxes resolved,
                reduction_axes(input, axes, context.node().attrs.get<bool>("keep_dims")));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, resolved.shape));
  return EuclideanNormArguments{input, *output, resolved.reduced};
}

void add_euclidean_norm(OpLibrary& library) {
  library.op(reduction_op("EuclideanNorm", "T")
                 .attr("T: numbertype")
                 .constructor("euclidean_norm(input, axis: reduction_indices = all, keep_dims)")
                 .gradient(norm_gradient));
  library.kernel(cpu_kernel("EuclideanNorm", check_euclidean_norm, compute_norm));
}

}  // namespace troupe
