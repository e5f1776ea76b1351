// Shapes as tensors, and tensors with other shapes. Shapes, sizes and axes are in host memory; Reshape, ExpandDims and Squeeze
// share the buffer of their input.
//   Shape(x), ShapeN(xs...), Size(x), Rank(x)   integers; InvalidArgument if one does not fit `out_type`
//   VariableShape(resource)                     the shape of the value of a variable
//   Reshape(tensor, shape)                      one dimension may be -1 and follows from the number of elements. If another
//                                               dimension is 0, it follows from the dimensions other than 0 on both sides
//   ExpandDims(input, dim)                      inserts a dimension of size 1 before `dim`, in [-rank-1, rank]
//   Squeeze(input)                              removes dimensions of size 1: all, or those in `squeeze_dims`
//   EnsureShape(input)                          the input; fails with InvalidArgument unless it has the shape `shape`, in which -1
//                                               stands for any dimension
#include "kernels/ops/array/reshape.h"

#include <algorithm>

#include "kernels/core/arguments.h"
#include "kernels/core/kernel.h"

namespace troupe {
namespace {

// ---- Shape, ShapeN, Size, Rank

Status rank_vector_shapes(ShapeContext& context) {
  for (size_t i = 0; i < context.inputs(); ++i) {
    const PartialShape& shape = context.input(i);
    context.set_output(
        i, PartialShape::vector(shape.known_rank() ? static_cast<int64_t>(shape.rank()) : unknown_dim));
  }
  return {};
}

/// Sets output i to the integers `values`, in the dtype out_type.
Status output_integers(KernelContext& context, size_t i, const Shape& shape,
                       std::span<const int64_t> values) {
  TROUPE_ASSIGN(Tensor* const output, context.output(i, shape));
  if (output->dtype() == DType::Int64) {
    std::ranges::copy(values, output->write<int64_t>().begin());
    return {};
  }
  const auto narrow = output->write<int32_t>();
  for (size_t k = 0; k < values.size(); ++k) {
    if (values[k] > INT32_MAX)
      return invalid_argument("the value " + std::to_string(values[k]) +
                              " does not fit int32; use out_type int64");
    narrow[k] = static_cast<int32_t>(values[k]);
  }
  return {};
}

Status run_shape(KernelContext& context) {
  for (size_t i = 0; i < context.inputs(); ++i) {
    const auto dims = context.input(i).shape().dims();
    TROUPE_RETURN_IF_FAILED(
        output_integers(context, i, Shape::vector(static_cast<int64_t>(dims.size())), dims));
  }
  return {};
}

Status run_size(KernelContext& context) {
  const int64_t elements = context.input(0).elements();
  return output_integers(context, 0, Shape(), {&elements, 1});
}

Status run_rank(KernelContext& context) {
  const auto rank = static_cast<int64_t>(context.input(0).shape().rank());
  return output_integers(context, 0, Shape(), {&rank, 1});
}

// ---- Reshape

constexpr const char* out_type = "out_type: {int32, int64} = int32";

/// The number of elements that the known dimensions of a shape give.
struct KnownProduct {
  int64_t nonzero = 1;  ///< the product of the dimensions that are not 0
  bool empty = false;   ///< true if a dimension is 0

  int64_t elements() const { return empty ? 0 : nonzero; }
};
Result<KnownProduct> known_product(std::span<const int64_t> dims) {
  KnownProduct known;
  for (const int64_t dim : dims) {
    if (dim == 0)
      known.empty = true;
    else if (dim != unknown_dim && __builtin_mul_overflow(known.nonzero, dim, &known.nonzero))
      return invalid_argument("the number of elements of shape " + text_of(dims) + " does not fit int64");
  }
  return known;
}

Status reshape_shape(ShapeContext& context) {
  TROUPE_ASSIGN(PartialShape shape, shape_from_input(context, 1));
  const PartialShape& input = context.input(0);
  const auto wanted = context.partial_integers(1);
  if (wanted && input.fully_known() &&
      (context.constant(1) || std::ranges::count(*wanted, unknown_dim) <= 1)) {
    TROUPE_ASSIGN(const Dims dims, resolved_dims(*wanted, input.dims()));
    shape = partial(dims);
  }
  context.set_output(0, std::move(shape));
  return {};
}

Status run_reshape(KernelContext& context) {
  const Tensor& tensor = context.input(0);
  TROUPE_ASSIGN(const Dims wanted, integer_vector(context.input(1), "shape"));
  TROUPE_ASSIGN(const Dims dims, resolved_dims(wanted, tensor.shape().dims()));
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, tensor.dtype()));
  context.set_output(0, tensor.reshaped(shape));
  return {};
}

/// The gradient of the ops that change only the shape.
void reshaped_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  context.set(0, scope.add_one("Reshape", {context.gradient(), shape_of(scope, context.input(0))}));
}

// ---- ExpandDims, Squeeze

Status expand_dims_shape(ShapeContext& context) {
  const PartialShape& input = context.input(0);
  const auto dim = constant_integer(context, 1);
  if (!input.known_rank()) return {};
  PartialShape expanded = PartialShape::of_rank(input.rank() + 1);
  if (dim) {
    TROUPE_ASSIGN(const size_t axis, resolve_axis(*dim, input.rank() + 1));
    expanded = partial(Dims(input.dims()).with(axis, 1));
  }
  context.set_output(0, std::move(expanded));
  return {};
}

Status run_expand_dims(KernelContext& context) {
  const Tensor& tensor = context.input(0);
  TROUPE_ASSIGN(const int64_t dim, integer_scalar(context.input(1), "dim"));
  TROUPE_ASSIGN(const size_t axis, resolve_axis(dim, tensor.shape().rank() + 1));
  TROUPE_ASSIGN(const Shape shape, Shape::make(Dims(tensor.shape().dims()).with(axis, 1), tensor.dtype()));
  context.set_output(0, tensor.reshaped(shape));
  return {};
}

/// Returns the dimensions that remain, unknown ones included. They can be determined only if all dimensions are known or the
/// axes are given.
Result<Dims> squeezed_dims(std::span<const int64_t> dims, std::span<const int64_t> axes) {
  std::vector<bool> drop(dims.size(), false);
  for (const int64_t axis : axes) {
    TROUPE_ASSIGN(const size_t i, resolve_axis(axis, dims.size()));
    if (dims[i] != 1 && dims[i] != unknown_dim)
      return invalid_argument("dimension " + std::to_string(i) + " of shape " + text_of(dims) +
                              " is not 1 and cannot be squeezed");
    drop[i] = true;
  }
  Dims remaining;
  for (size_t i = 0; i < dims.size(); ++i)
    if (!drop[i] && !(axes.empty() && dims[i] == 1)) remaining.push_back(dims[i]);
  return remaining;
}

Status squeeze_shape(ShapeContext& context) {
  const PartialShape& input = context.input(0);
  const auto& axes = context.attr<std::vector<int64_t>>("squeeze_dims");
  if (!input.known_rank() || (axes.empty() && !input.fully_known())) return {};
  TROUPE_ASSIGN(const Dims dims, squeezed_dims(input.dims(), axes));
  context.set_output(0, partial(dims));
  return {};
}

Status run_squeeze(KernelContext& context) {
  const Tensor& tensor = context.input(0);
  const auto& axes = context.node().attrs.get<std::vector<int64_t>>("squeeze_dims");
  TROUPE_ASSIGN(const Dims dims, squeezed_dims(tensor.shape().dims(), axes));
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, tensor.dtype()));
  context.set_output(0, tensor.reshaped(shape));
  return {};
}

// ---- EnsureShape

Status ensure_shape_shape(ShapeContext& context) {
  TROUPE_ASSIGN(auto shape, merge(context.input(0), context.attr<PartialShape>("shape")));
  context.set_output(0, std::move(shape));
  return {};
}

Status run_ensure_shape(KernelContext& context) {
  const Tensor& input = context.input(0);
  const auto& shape = context.node().attrs.get<PartialShape>("shape");
  if (!shape.compatible_with(input.shape()))
    return invalid_argument("input of shape " + input.shape().text() + " is not of shape " + shape.text());
  context.set_output(0, input);
  return {};
}

void ensure_shape_gradient(GradientContext& context) { context.set(0, context.gradient()); }

void add_shape_queries(OpLibrary& library) {
  library.op(OpDefBuilder("Shape")
                 .input("input: T")
                 .host_output("output: out_type")
                 .attr("T: type")
                 .attr(out_type)
                 .constructor("shape(input, out_type)")
                 .shape(rank_vector_shapes)
                 .not_differentiable());
  library.op(OpDefBuilder("VariableShape")
                 .input("input: resource")
                 .host_output("output: out_type")
                 .attr(out_type)
                 .effect(Effect::State)
                 .shape(rank_vector_shapes)
                 .not_differentiable());
  library.op(OpDefBuilder("ShapeN")
                 .input("input: N * T")
                 .host_output("output: N * out_type")
                 .attr("N: int >= 1")
                 .attr("T: type")
                 .attr(out_type)
                 .constructor("shape_n(input, out_type)")
                 .shape(rank_vector_shapes)
                 .not_differentiable());
  library.op(OpDefBuilder("Size")
                 .input("input: T")
                 .host_output("output: out_type")
                 .attr("T: type")
                 .attr(out_type)
                 .constructor("size(input, out_type)")
                 .shape(scalar_shape)
                 .not_differentiable());
  library.op(OpDefBuilder("Rank")
                 .input("input: T")
                 .host_output("output: int32")
                 .attr("T: type")
                 .constructor("rank(input)")
                 .shape(scalar_shape)
                 .not_differentiable());
  library.kernel(host_kernel("Shape", run_shape).inexpensive());
  library.kernel(host_kernel("VariableShape", run_shape).inexpensive());
  library.kernel(host_kernel("ShapeN", run_shape).inexpensive());
  library.kernel(host_kernel("Size", run_size).inexpensive());
  library.kernel(host_kernel("Rank", run_rank).inexpensive());
}

}  // namespace

Result<Dims> resolved_dims(std::span<const int64_t> wanted, std::span<const int64_t> tensor) {
  Dims dims(wanted);
  const auto open = std::ranges::find(dims, -1);
  for (const int64_t dim : dims)
    if (dim < -1) return invalid_argument("shape " + text_of(wanted) + " has a dimension below -1");
  TROUPE_ASSIGN(const KnownProduct known, known_product(wanted));
  TROUPE_ASSIGN(const KnownProduct given, known_product(tensor));
  if (open != dims.end()) {
    if (std::find(open + 1, dims.end(), -1) != dims.end())
      return invalid_argument("shape " + text_of(wanted) + " has more than one -1");
    *open = (known.empty ? given.nonzero : given.elements()) / known.nonzero;
  }
  TROUPE_ASSIGN(const KnownProduct result, known_product(dims));
  if (result.elements() != given.elements())
    return invalid_argument("a tensor of " + std::to_string(given.elements()) +
                            " elements cannot be reshaped to " + text_of(wanted));
  return dims;
}

void add_shape_ops(OpLibrary& library) {
  add_shape_queries(library);
  library.op(OpDefBuilder("Reshape")
                 .input("tensor: T")
                 .host_input("shape: Tshape")
                 .output("output: T")
                 .attr("T: type")
                 .attr("Tshape: {int32, int64} = int32")
                 .constructor("reshape(tensor, shape)")
                 .shape(reshape_shape)
                 .gradient(reshaped_gradient));
  library.kernel(host_kernel("Reshape", run_reshape).inexpensive());
  library.op(OpDefBuilder("ExpandDims")
                 .input("input: T")
                 .host_input("dim: Tdim")
                 .output("output: T")
                 .attr("T: type")
                 .attr("Tdim: {int32, int64} = int32")
                 .constructor("expand_dims(input, axis: dim)")
                 .shape(expand_dims_shape)
                 .gradient(reshaped_gradient));
  library.kernel(host_kernel("ExpandDims", run_expand_dims).inexpensive());
  library.op(OpDefBuilder("Squeeze")
                 .input("input: T")
                 .output("output: T")
                 .attr("T: type")
                 .attr("squeeze_dims: list(int) = []")
                 .constructor("squeeze(input, axis: squeeze_dims)")
                 .shape(squeeze_shape)
                 .gradient(reshaped_gradient));
  library.kernel(host_kernel("Squeeze", run_squeeze).inexpensive());
  library.op(OpDefBuilder("EnsureShape")
                 .input("input: T")
                 .output("output: T")
                 .attr("shape: shape")
                 .attr("T: type")
                 .constructor("ensure_shape(x: input, shape)")
                 .effect(Effect::Guard)
                 .shape(ensure_shape_shape)
                 .gradient(ensure_shape_gradient));
  library.kernel(host_kernel("EnsureShape", run_ensure_shape).inexpensive().any_type());
}

}  // namespace troupe
