// Concatenates tensors along an axis.
//   ConcatV2(values..., axis)   the shapes are equal except for that axis, which is in [-rank, rank)
//   Concat(axis, values...)     the same with another order of the inputs
//   ParallelConcat(values...)   along axis 0; each value has one row, and the attribute shape is that of the result
//   ConcatOffset(dim, shapes)   where each value begins when concatenated along `dim`: [0, .., begin, .., 0]
#include <algorithm>
#include <utility>

#include "kernels/core/arguments.h"
#include "kernels/loops/rows.h"
#include "kernels/ops/array/copies.h"

namespace troupe {
namespace {

/// The positions of the values and of the axis among the inputs, for both orders.
struct ConcatInputs {
  size_t first, count, axis;
};
ConcatInputs concat_inputs(const Node& node) {
  const auto count = static_cast<size_t>(node.attrs.get<int64_t>("N"));
  return node.type() == "ConcatV2" ? ConcatInputs{0, count, count} : ConcatInputs{1, count, 0};
}

/// Returns the concatenated shape: the dimensions are equal except for `axis`, where they are added.
Result<PartialShape> joined(const ShapeContext& context, const ConcatInputs& in, int64_t signed_axis) {
  std::optional<PartialShape> shape;
  int64_t along = 0;
  for (size_t i = in.first; i < in.first + in.count; ++i) {
    const PartialShape& value = context.input(i);
    if (!value.known_rank()) {
      along = unknown_dim;
      continue;
    }
    TROUPE_ASSIGN(const size_t axis, resolve_axis(signed_axis, value.rank()));
    const int64_t size = value[axis];
    if (along == unknown_dim || size == unknown_dim)
      along = unknown_dim;
    else if (__builtin_add_overflow(along, size, &along))
      return invalid_argument("the sum of the sizes of dimension " + std::to_string(axis) +
                              " does not fit int64");
    Dims dims(value.dims());
    dims[axis] = unknown_dim;
    PartialShape rest = partial(dims);
    if (shape) {
      TROUPE_ASSIGN(shape, merge(*shape, rest));
    } else {
      shape = std::move(rest);
    }
  }
  if (!shape) return PartialShape{};
  TROUPE_ASSIGN(const size_t axis, resolve_axis(signed_axis, shape->rank()));
  Dims dims(shape->dims());
  dims[axis] = along;
  return partial(dims);
}

/// Returns the shape of the result. Fails with InvalidArgument, naming the first input that does not fit.
Result<Shape> joined_shape(const KernelContext& context, const ConcatInputs& in, size_t axis) {
  const Shape& first = context.input(in.first).shape();
  Dims dims(first.dims());
  for (size_t i = 1; i < in.count; ++i) {
    const Shape& shape = context.input(in.first + i).shape();
    bool fits = shape.rank() == dims.size();
    for (size_t k = 0; fits && k < dims.size(); ++k) fits = k == axis || shape[k] == dims[k];
    if (!fits || __builtin_add_overflow(dims[axis], shape[axis], &dims[axis]))
      return invalid_argument("value 0 of shape " + first.text() + " and value " + std::to_string(i) +
                              " of shape " + shape.text() + " differ in more than dimension " +
                              std::to_string(axis));
  }
  return Shape::make(dims, context.input(in.first).dtype());
}

/// Each input gets its part of the gradient.
void concat_gradient(GradientContext& context) {
  const ConcatInputs in = concat_inputs(context.node());
  const Scope& scope = context.scope();
  const Output gradient = context.gradient();
  Output axis = context.input(in.axis);
  if (scope.dtype(axis) != i32) axis = scope.add_one("Cast", {axis}, {{"DstT", i32}});
  std::vector<Output> offsets_in{axis};
  for (size_t i = 0; i < in.count; ++i) offsets_in.push_back(shape_of(scope, context.input(in.first + i)));
  const std::vector<Output> sizes(offsets_in.begin() + 1, offsets_in.end());
  const NodeId offsets = scope.add("ConcatOffset", std::move(offsets_in));
  for (size_t i = 0; i < in.count; ++i) {
    const Output offset{offsets, static_cast<uint32_t>(i)};
    context.set(in.first + i, scope.add_one("Slice", {gradient, offset, sizes[i]}));
  }
}

/// The result has the attribute shape, each value the same with one row.
Status parallel_concat_shape(ShapeContext& context) {
  const auto& shape = context.attr<PartialShape>("shape");
  if (!shape.known_rank() || shape.rank() == 0 ||
      (shape[0] != unknown_dim && shape[0] != static_cast<int64_t>(context.inputs())))
    return invalid_argument("the attribute shape is " + shape.text() +
                            "; its first dimension must be the number of values, " +
                            std::to_string(context.inputs()));
  const PartialShape row = partial(Dims(shape.dims()).without(0).with(0, 1));
  for (size_t i = 0; i < context.inputs(); ++i)
    TROUPE_RETURN_IF_FAILED(merge(context.input(i), row).status());
  context.set_output(0, shape);
  return {};
}

Result<ConcatArguments> check_parallel_concat(KernelContext& context) {
  const Shape& first = context.input(0).shape();
  const auto& whole = context.node().attrs.get<PartialShape>("shape");
  const PartialShape row = partial(Dims(whole.dims()).without(0).with(0, 1));
  for (size_t i = 0; i < context.inputs(); ++i) {
    const Shape& shape = context.input(i).shape();
    if (!row.compatible_with(shape) || !(shape == first))
      return invalid_argument("value " + std::to_string(i) + " has shape " + shape.text() +
                              "; all values must have the shape of a row of the attribute shape, " +
                              row.text());
  }
  TROUPE_ASSIGN(const Shape shape,
                Shape::make(Dims(first.dims()).without(0).with(0, static_cast<int64_t>(context.inputs())),
                            context.input(0).dtype()));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  return ConcatArguments{context.input_slots(0, context.inputs()), *output, 1};
}

Status concat_offset_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(0, 0).status());
  for (size_t i = 1; i < context.inputs(); ++i) {
    TROUPE_ASSIGN(auto shape, context.with_rank(i, 1));
    context.set_output(i - 1, std::move(shape));
  }
  return {};
}

template <class T>
Status put_offset(Tensor& offsets, size_t axis, int64_t offset) {
  if (!std::in_range<T>(offset))
    return invalid_argument("the offset " + std::to_string(offset) + " does not fit " +
                            std::string(name(dtype_of<T>)));
  offsets.write<T>()[axis] = static_cast<T>(offset);
  return {};
}

Status run_concat_offset(KernelContext& context) {
  TROUPE_ASSIGN(const int64_t signed_axis, integer_scalar(context.input(0), "concat_dim"));
  TROUPE_ASSIGN(const Dims first, integer_vector(context.input(1), "shape"));
  TROUPE_ASSIGN(const size_t axis, resolve_axis(signed_axis, first.size()));
  int64_t offset = 0;
  for (size_t i = 1; i < context.inputs(); ++i) {
    TROUPE_ASSIGN(Dims dims, integer_vector(context.input(i), "shape"));
    Dims expected = first;
    if (dims.size() > axis) expected[axis] = dims[axis];
    if (dims != expected)
      return invalid_argument("shapes " + text_of(first) + " and " + text_of(dims) +
                              " differ in more than dimension " + std::to_string(axis));
    TROUPE_ASSIGN(Tensor* const output, context.output(i - 1, context.input(i).shape()));
    fill(context.device().pool(), *output);
    TROUPE_RETURN_IF_FAILED(output->dtype() == DType::Int64 ? put_offset<int64_t>(*output, axis, offset)
                                                            : put_offset<int32_t>(*output, axis, offset));
    if (__builtin_add_overflow(offset, dims[axis], &offset))
      return invalid_argument("the sizes of the first " + std::to_string(i) + " shapes along dimension " +
                              std::to_string(axis) + " add up to more than int64 can hold");
  }
  return {};
}

}  // namespace

Status concat_shape(ShapeContext& context) {
  const ConcatInputs in = concat_inputs(context.node());
  TROUPE_RETURN_IF_FAILED(context.with_rank(in.axis, 0).status());
  if (const auto axis = constant_integer(context, in.axis)) {
    TROUPE_ASSIGN(auto shape, joined(context, in, *axis));
    context.set_output(0, std::move(shape));
    return {};
  }
  PartialShape any = context.input(in.first);
  if (any.known_rank()) context.set_output(0, PartialShape::of_rank(any.rank()));
  return {};
}

Result<ConcatArguments> check_concat(KernelContext& context) {
  const ConcatInputs in = concat_inputs(context.node());
  TROUPE_ASSIGN(const int64_t signed_axis, integer_scalar(context.input(in.axis), "axis"));
  TROUPE_ASSIGN(const size_t axis, resolve_axis(signed_axis, context.input(in.first).shape().rank()));
  TROUPE_ASSIGN(const Shape shape, joined_shape(context, in, axis));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  return ConcatArguments{context.input_slots(in.first, in.count), *output,
                         count_of(shape.dims().first(axis))};
}

void add_concat_ops(OpLibrary& library) {
  library.op(OpDefBuilder("Concat")
                 .host_input("concat_dim: int32")
                 .input("values: N * T")
                 .output("output: T")
                 .attr("N: int >= 2")
                 .attr("T: type")
                 .shape(concat_shape)
                 .gradient(concat_gradient));
  library.kernel(cpu_kernel("Concat", check_concat, compute_concat));
  library.op(OpDefBuilder("ConcatV2")
                 .input("values: N * T")
                 .host_input("axis: Tidx")
                 .output("output: T")
                 .attr("N: int >= 2")
                 .attr("T: type")
                 .attr("Tidx: {int32, int64} = int32")
                 .constructor("concat(values, axis)")
                 .shape(concat_shape)
                 .gradient(concat_gradient));
  library.kernel(cpu_kernel("ConcatV2", check_concat, compute_concat));
  library.op(OpDefBuilder("ParallelConcat")
                 .input("values: N * T")
                 .output("output: T")
                 .attr("N: int >= 1")
                 .attr("T: type")
                 .attr("shape: shape")
                 .shape(parallel_concat_shape));
  library.kernel(cpu_kernel("ParallelConcat", check_parallel_concat, compute_concat));
  library.op(OpDefBuilder("ConcatOffset")
                 .host_input("concat_dim: int32")
                 .host_input("shape: N * shape_type")
                 .host_output("offset: N * shape_type")
                 .attr("N: int >= 2")
                 .attr("shape_type: {int32, int64} = int32")
                 .shape(concat_offset_shape)
                 .not_differentiable());
  library.kernel(host_kernel("ConcatOffset", run_concat_offset).inexpensive());
}

}  // namespace troupe
