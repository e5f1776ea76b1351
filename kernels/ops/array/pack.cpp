// Stacks tensors of one shape along a new axis, and splits them again.
//   Pack(values...)   the new axis is `axis`, in [-rank-1, rank]
//   Unpack(value)     `num` tensors without `axis`, whose size must be num
#include <algorithm>

#include "kernels/core/arguments.h"
#include "kernels/loops/rows.h"
#include "kernels/ops/array/copies.h"

namespace troupe {
namespace {

Status pack_shape(ShapeContext& context) {
  PartialShape shape = context.input(0);
  for (size_t i = 1; i < context.inputs(); ++i) {
    TROUPE_ASSIGN(shape, merge(shape, context.input(i)));
  }
  if (!shape.known_rank()) return {};
  TROUPE_ASSIGN(const size_t axis, resolve_axis(context.attr<int64_t>("axis"), shape.rank() + 1));
  context.set_output(0, partial(Dims(shape.dims()).with(axis, static_cast<int64_t>(context.inputs()))));
  return {};
}

void pack_gradient(GradientContext& context) {
  const auto count = static_cast<int64_t>(context.node().inputs.size());
  const NodeId parts = context.scope().add("Unpack", {context.gradient()},
                                           {{"num", count}, {"axis", context.attr<int64_t>("axis")}});
  for (uint32_t i = 0; i < count; ++i) context.set(i, Output{parts, i});
}

Status unpack_shape(ShapeContext& context) {
  const PartialShape& value = context.input(0);
  const auto num = context.attr<int64_t>("num");
  if (!value.known_rank()) return {};
  TROUPE_ASSIGN(const size_t axis, resolve_axis(context.attr<int64_t>("axis"), value.rank()));
  if (value[axis] != unknown_dim && value[axis] != num)
    return invalid_argument("dimension " + std::to_string(axis) + " of shape " + value.text() +
                            " must be equal to num, which is " + std::to_string(num));
  const PartialShape part = partial(Dims(value.dims()).without(axis));
  for (size_t i = 0; i < static_cast<size_t>(num); ++i) context.set_output(i, part);
  return {};
}

void unpack_gradient(GradientContext& context) {
  std::vector<Output> parts;
  for (size_t i = 0; i < context.node().output_types.size(); ++i) parts.push_back(context.gradient(i));
  if (parts.empty()) return;
  context.set(0,
              context.scope().add_one("Pack", std::move(parts), {{"axis", context.attr<int64_t>("axis")}}));
}

}  // namespace

Result<ConcatArguments> check_pack(KernelContext& context) {
  const Shape& first = context.input(0).shape();
  const size_t count = context.inputs();
  TROUPE_ASSIGN(const size_t axis, resolve_axis(context.node().attrs.get<int64_t>("axis"), first.rank() + 1));
  for (size_t i = 1; i < count; ++i)
    if (context.input(i).shape() != first)
      return invalid_argument("value 0 of shape " + first.text() + " and value " + std::to_string(i) +
                              " of shape " + context.input(i).shape().text() +
                              " differ; all values must have the same shape");
  const Dims dims = Dims(first.dims()).with(axis, static_cast<int64_t>(count));
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, context.input(0).dtype()));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  return ConcatArguments{context.input_slots(0, count), *output, count_of(first.dims().first(axis))};
}

Result<SplitArguments> check_unpack(KernelContext& context) {
  const Tensor& value = context.input(0);
  const auto num = context.node().attrs.get<int64_t>("num");
  TROUPE_ASSIGN(const size_t axis,
                resolve_axis(context.node().attrs.get<int64_t>("axis"), value.shape().rank()));
  if (value.shape()[axis] != num)
    return invalid_argument("dimension " + std::to_string(axis) + " of shape " + value.shape().text() +
                            " must be equal to num, which is " + std::to_string(num));
  const Dims dims = Dims(value.shape().dims()).without(axis);
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, value.dtype()));
  const std::span<Tensor> parts = context.outputs();
  for (size_t i = 0; i < parts.size(); ++i) TROUPE_RETURN_IF_FAILED(context.output(i, shape).status());
  return SplitArguments{value, parts, count_of(value.shape().dims().first(axis))};
}

void add_pack_ops(OpLibrary& library) {
  library.op(OpDefBuilder("Pack")
                 .input("values: N * T")
                 .output("output: T")
                 .attr("N: int >= 1")
                 .attr("T: type")
                 .attr("axis: int = 0")
                 .constructor("stack(values, axis)")
                 .shape(pack_shape)
                 .gradient(pack_gradient));
  library.kernel(cpu_kernel("Pack", check_pack, compute_concat));
  library.op(OpDefBuilder("Unpack")
                 .input("value: T")
                 .output("output: num * T")
                 .attr("num: int >= 0")
                 .attr("T: type")
                 .attr("axis: int = 0")
                 .constructor("unstack(value, num, axis)")
                 .shape(unpack_shape)
                 .gradient(unpack_gradient));
  library.kernel(cpu_kernel("Unpack", check_unpack, compute_split));
}

}  // namespace troupe
