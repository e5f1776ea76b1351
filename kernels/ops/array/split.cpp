// Splits a tensor along an axis.
//   Split(split_dim, value)                  into `num_split` equal parts
//   SplitV(value, size_splits, split_dim)    into parts of the given sizes; one size may be -1 and is what the others leave
#include <algorithm>

#include "kernels/core/arguments.h"
#include "kernels/loops/rows.h"
#include "kernels/ops/array/copies.h"

namespace troupe {
namespace {

PartialShape with_dim(const PartialShape& shape, size_t axis, int64_t size) {
  Dims dims(shape.dims());
  dims[axis] = size;
  return partial(dims);
}

Status indivisible(int64_t size, size_t axis, int64_t parts) {
  return invalid_argument("dimension " + std::to_string(axis) + " of size " + std::to_string(size) +
                          " cannot be cut into " + std::to_string(parts) + " equal parts");
}

Status split_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(0, 0).status());
  const PartialShape& value = context.input(1);
  const auto parts = context.attr<int64_t>("num_split");
  const auto split_dim = constant_integer(context, 0);
  if (!value.known_rank()) return {};
  PartialShape part = PartialShape::of_rank(value.rank());
  if (split_dim) {
    TROUPE_ASSIGN(const size_t axis, resolve_axis(*split_dim, value.rank()));
    const int64_t size = value[axis];
    if (size != unknown_dim && size % parts != 0) return indivisible(size, axis, parts);
    part = with_dim(value, axis, size == unknown_dim ? unknown_dim : size / parts);
  }
  for (size_t i = 0; i < static_cast<size_t>(parts); ++i) context.set_output(i, part);
  return {};
}

/// Allocates the parts of the value, which have these sizes along the axis.
Result<SplitArguments> split_along(KernelContext& context, const Tensor& value, size_t axis,
                                   std::span<const int64_t> sizes) {
  Dims dims(value.shape().dims());
  for (size_t i = 0; i < sizes.size(); ++i) {
    dims[axis] = sizes[i];
    TROUPE_ASSIGN(const Shape shape, Shape::make(dims, value.dtype()));
    TROUPE_RETURN_IF_FAILED(context.output(i, shape).status());
  }
  return SplitArguments{value, context.outputs(), count_of(value.shape().dims().first(axis))};
}

/// Returns `sizes` with its -1, if any, replaced so that they add up to `total`.
Result<Dims> resolved_sizes(std::span<const int64_t> sizes, int64_t total) {
  Dims resolved(sizes);
  const auto open = std::ranges::find(resolved, -1);
  int64_t sum = 0;
  for (auto at = resolved.begin(); at != resolved.end(); ++at) {
    if (at == open) continue;
    if (*at < 0 || __builtin_add_overflow(sum, *at, &sum))
      return invalid_argument("size_splits " + text_of(sizes) +
                              " may contain one -1 at most and no other negative size");
  }
  if (open != resolved.end()) *open = total - sum;
  if (open != resolved.end() ? *open < 0 : sum != total)
    return invalid_argument("size_splits " + text_of(sizes) + " do not add up to " + std::to_string(total) +
                            ", the size of the split dimension");
  return resolved;
}

Status split_v_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(1, 1).status());
  TROUPE_RETURN_IF_FAILED(context.with_rank(2, 0).status());
  const PartialShape& value = context.input(0);
  if (!value.known_rank()) return {};
  const auto sizes = context.constant_integers(1);
  const auto split_dim = constant_integer(context, 2);
  const auto parts = static_cast<size_t>(context.attr<int64_t>("num_split"));
  if (!split_dim) {
    for (size_t i = 0; i < parts; ++i) context.set_output(i, PartialShape::of_rank(value.rank()));
    return {};
  }
  TROUPE_ASSIGN(const size_t axis, resolve_axis(*split_dim, value.rank()));
  Dims resolved(sizes ? *sizes
                      : context.partial_integers(1).value_or(std::vector<int64_t>(parts, unknown_dim)));
  if (resolved.size() != parts)
    return invalid_argument("size_splits " + text_of(resolved) + " must have one size for each of the " +
                            std::to_string(parts) + " outputs");
  if (sizes && value[axis] != unknown_dim) {
    TROUPE_ASSIGN(resolved, resolved_sizes(*sizes, value[axis]));
  }
  for (size_t i = 0; i < parts; ++i)
    context.set_output(i, with_dim(value, axis, std::max<int64_t>(resolved[i], unknown_dim)));
  return {};
}

/// The gradient is the concatenation of the gradients of the parts.
Output joined_gradients(const GradientContext& context, Output axis) {
  std::vector<Output> parts;
  for (size_t i = 0; i < context.node().output_types.size(); ++i) parts.push_back(context.gradient(i));
  if (parts.size() == 1) return parts.front();
  parts.push_back(axis);
  return context.scope().add_one("ConcatV2", std::move(parts));
}

void split_gradient(GradientContext& context) { context.set(1, joined_gradients(context, context.input(0))); }
void split_v_gradient(GradientContext& context) {
  context.set(0, joined_gradients(context, context.input(2)));
}

}  // namespace

Result<SplitArguments> check_split(KernelContext& context) {
  const Tensor& value = context.input(1);
  const auto parts = context.node().attrs.get<int64_t>("num_split");
  TROUPE_ASSIGN(const int64_t split_dim, integer_scalar(context.input(0), "split_dim"));
  TROUPE_ASSIGN(const size_t axis, resolve_axis(split_dim, value.shape().rank()));
  const int64_t size = value.shape()[axis];
  if (size % parts != 0) return indivisible(size, axis, parts);
  return split_along(context, value, axis, Dims(static_cast<size_t>(parts), size / parts));
}

Result<SplitArguments> check_split_v(KernelContext& context) {
  const Tensor& value = context.input(0);
  TROUPE_ASSIGN(const Dims sizes, integer_vector(context.input(1), "size_splits"));
  TROUPE_ASSIGN(const int64_t split_dim, integer_scalar(context.input(2), "split_dim"));
  TROUPE_ASSIGN(const size_t axis, resolve_axis(split_dim, value.shape().rank()));
  const auto parts = static_cast<size_t>(context.node().attrs.get<int64_t>("num_split"));
  if (sizes.size() != parts)
    return invalid_argument("size_splits " + text_of(sizes) + " must have one size for each of the " +
                            std::to_string(parts) + " outputs");
  TROUPE_ASSIGN(const Dims resolved, resolved_sizes(sizes, value.shape()[axis]));
  return split_along(context, value, axis, resolved);
}

void add_split_ops(OpLibrary& library) {
  library.op(OpDefBuilder("Split")
                 .host_input("split_dim: int32")
                 .input("value: T")
                 .output("output: num_split * T")
                 .attr("num_split: int >= 1")
                 .attr("T: type")
                 .constructor("split(value, num_split, axis: split_dim = 0)")
                 .shape(split_shape)
                 .gradient(split_gradient));
  library.kernel(cpu_kernel("Split", check_split, compute_split));
  library.op(OpDefBuilder("SplitV")
                 .input("value: T")
                 .host_input("size_splits: Tlen")
                 .host_input("split_dim: int32")
                 .output("output: num_split * T")
                 .attr("num_split: int >= 1")
                 .attr("T: type")
                 .attr("Tlen: {int32, int64} = int64")
                 .constructor("split_v(value, size_splits, num_split, axis: split_dim = 0)")
                 .shape(split_v_shape)
                 .gradient(split_v_gradient));
  library.kernel(cpu_kernel("SplitV", check_split_v, compute_split));
}

}  // namespace troupe
