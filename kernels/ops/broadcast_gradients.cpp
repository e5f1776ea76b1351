// BroadcastGradientArgs(s0, s1), and helpers for the gradients of ops that broadcast. r0 and r1 are the axes of the output
// along which tensors of shapes s0 and s1 were repeated when they were broadcast together. An axis of size 1 on both sides is
// in r0 and in r1, unless the shapes are equal.
#include "kernels/ops/broadcast_gradients.h"

#include <algorithm>

#include "graph/build/shape_context.h"
#include "kernels/core/arguments.h"
#include "kernels/core/kernel.h"

namespace troupe {
namespace {

// ---- The op

template <class T>
Status check_shape_vector(const Tensor& shape, const char* argument) {
  if (shape.shape().rank() != 1)
    return invalid_argument(std::string(argument) + " of shape " + shape.shape().text() + " is not a vector");
  for (const T dim : shape.as<T>())
    if (dim < 0)
      return invalid_argument(std::string(argument) + " has the dimension " + std::to_string(dim) +
                              "; dimensions must not be negative");
  return {};
}

template <class T>
Status output_axes(KernelContext& context, size_t i, const std::vector<T>& axes) {
  TROUPE_ASSIGN(Tensor* const output, context.output(i, Shape::vector(static_cast<int64_t>(axes.size()))));
  std::ranges::copy(axes, output->write<T>().begin());
  return {};
}

template <class T>
Status broadcast_gradient_args(KernelContext& context) {
  TROUPE_RETURN_IF_FAILED(check_shape_vector<T>(context.input(0), "s0"));
  TROUPE_RETURN_IF_FAILED(check_shape_vector<T>(context.input(1), "s1"));
  const auto s0 = context.input(0).as<T>(), s1 = context.input(1).as<T>();
  const size_t rank = std::ranges::equal(s0, s1) ? 0 : std::max(s0.size(), s1.size());
  std::vector<T> axes0, axes1;
  for (size_t i = 0; i < rank; ++i) {
    const bool missing0 = i + s0.size() < rank, missing1 = i + s1.size() < rank;
    const T dim0 = missing0 ? 1 : s0[i + s0.size() - rank], dim1 = missing1 ? 1 : s1[i + s1.size() - rank];
    if (dim0 != dim1 && dim0 != 1 && dim1 != 1)
      return invalid_argument("shapes do not broadcast: dimensions " + std::to_string(dim0) + " and " +
                              std::to_string(dim1) + " differ and neither is 1");
    if (dim0 == 1) axes0.push_back(static_cast<T>(i));
    if (dim1 == 1) axes1.push_back(static_cast<T>(i));
  }
  TROUPE_RETURN_IF_FAILED(output_axes(context, 0, axes0));
  return output_axes(context, 1, axes1);
}

Status run_broadcast_gradient_args(KernelContext& context) {
  return context.input(0).dtype() == DType::Int32 ? broadcast_gradient_args<int32_t>(context)
                                                  : broadcast_gradient_args<int64_t>(context);
}

Status broadcast_gradient_args_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(0, 1).status());
  TROUPE_RETURN_IF_FAILED(context.with_rank(1, 1).status());
  context.set_output(0, PartialShape::vector(unknown_dim));
  context.set_output(1, PartialShape::vector(unknown_dim));
  return {};
}

// ---- Gradients

/// How one input was broadcast: the number of axes that the output has in front of those of the input, and the axes of size 1
/// of the input that were repeated.
struct Repeated {
  size_t leading = 0;
  std::vector<int32_t> axes;
};

/// Returns along which axes input `a` is repeated when it is broadcast with `b`, or nothing if the known dimensions do not
/// determine it. An axis of size 1 against an unknown one counts as repeated: summing over an axis of size 1 changes nothing.
std::optional<Repeated> repeated(const PartialShape& a, const PartialShape& b) {
  if (!a.known_rank() || !b.known_rank()) return std::nullopt;
  Repeated result;
  if (b.rank() > a.rank()) result.leading = b.rank() - a.rank();
  for (size_t i = 0; i < a.rank(); ++i) {
    const bool missing = i + b.rank() < a.rank();
    const int64_t other = missing ? 1 : b[i + b.rank() - a.rank()];
    if (a[i] == unknown_dim && other != 1) return std::nullopt;
    if (a[i] == 1 && other != 1) result.axes.push_back(static_cast<int32_t>(i));
  }
  return result;
}

Output sum(const Scope& scope, Output x, const std::vector<int32_t>& axes, bool keep_dims) {
  return scope.add_one("Sum", {x, scope.constant(Tensor::vector<int32_t>(std::span(axes)))},
                       {{"keep_dims", keep_dims}});
}

Output summed(const Scope& scope, Output gradient, const Repeated& repeated) {
  if (repeated.leading != 0) {
    std::vector<int32_t> leading(repeated.leading);
    for (size_t i = 0; i < leading.size(); ++i) leading[i] = static_cast<int32_t>(i);
    gradient = sum(scope, gradient, leading, false);
  }
  return repeated.axes.empty() ? gradient : sum(scope, gradient, repeated.axes, true);
}

Output summed_in_step(const Scope& scope, Output gradient, Output axes, Output shape) {
  return scope.add_one("Reshape", {scope.add_one("Sum", {gradient, axes}), shape});
}

}  // namespace

void set_broadcast_gradients(GradientContext& context, Output gradient_a, Output gradient_b) {
  const Scope& scope = context.scope();
  const Output a = context.input(0), b = context.input(1);
  if (a == b) {
    context.set(0, gradient_a);
    context.set(1, gradient_b);
    return;
  }
  const auto repeated_a = repeated(scope.shape(a), scope.shape(b)),
             repeated_b = repeated(scope.shape(b), scope.shape(a));
  if (repeated_a) context.set(0, summed(scope, gradient_a, *repeated_a));
  if (repeated_b) context.set(1, summed(scope, gradient_b, *repeated_b));
  if (repeated_a && repeated_b) return;
  const Output shape_a = shape_of(scope, a), shape_b = shape_of(scope, b);
  const NodeId axes = scope.add("BroadcastGradientArgs", {shape_a, shape_b});
  if (!repeated_a) context.set(0, summed_in_step(scope, gradient_a, {axes, 0}, shape_a));
  if (!repeated_b) context.set(1, summed_in_step(scope, gradient_b, {axes, 1}, shape_b));
}

Output summed_to_shape_of(const Scope& scope, Output gradient, Output x) {
  if (const auto known = repeated(scope.shape(x), scope.shape(gradient)))
    return summed(scope, gradient, *known);
  const Output shape = shape_of(scope, x);
  const NodeId axes = scope.add("BroadcastGradientArgs", {shape, shape_of(scope, gradient)});
  return summed_in_step(scope, gradient, {axes, 0}, shape);
}

Output conjugate(const Scope& scope, Output x) {
  return is_complex(scope.dtype(x)) ? scope.add_one("Conj", {x}) : x;
}

void add_broadcast_gradient_args(OpLibrary& library) {
  library.op(OpDefBuilder("BroadcastGradientArgs")
                 .host_input("s0: T")
                 .host_input("s1: T")
                 .host_output("r0: T")
                 .host_output("r1: T")
                 .attr("T: {int32, int64} = int32")
                 .shape(broadcast_gradient_args_shape)
                 .not_differentiable());
  library.kernel(
      host_kernel("BroadcastGradientArgs", run_broadcast_gradient_args).on("T", {i32, i64}).inexpensive());
}

}  // namespace troupe
