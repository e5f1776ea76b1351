// The order of the elements of a tensor reversed along some axes.
//   ReverseV2(tensor, axis)   along each listed axis
//   Reverse(tensor, dims)     along each axis whose element of dims is true
#include "graph/build/gradients.h"
#include "kernels/core/arguments.h"
#include "kernels/ops/array/copies.h"

namespace troupe {
namespace {

/// Returns which axes are reversed. Fails with InvalidArgument if an axis is named twice.
Result<std::vector<bool>> reversed_axes(std::span<const int64_t> axes, size_t rank) {
  std::vector<bool> reversed(rank, false);
  for (const int64_t axis : axes) {
    TROUPE_ASSIGN(const size_t i, resolve_axis(axis, rank));
    if (reversed[i])
      return invalid_argument("axis " + std::to_string(i) + " is named twice; each axis may be named once");
    reversed[i] = true;
  }
  return reversed;
}

Status reverse_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(1, 1).status());
  const auto axes = context.constant_integers(1);
  if (axes && context.input(0).known_rank())
    TROUPE_RETURN_IF_FAILED(reversed_axes(*axes, context.input(0).rank()).status());
  return unchanged_shape(context);
}

Status check_flags(const PartialShape& tensor, const PartialShape& flags) {
  if (!tensor.known_rank() || flags.dims()[0] == unknown_dim) return {};
  if (flags[0] == static_cast<int64_t>(tensor.rank())) return {};
  return invalid_argument("dims has shape " + flags.text() + " and tensor has shape " + tensor.text() +
                          "; dims must have one element for each dimension of tensor");
}

Status flagged_reverse_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto flags, context.with_rank(1, 1));
  TROUPE_RETURN_IF_FAILED(check_flags(context.input(0), flags));
  return unchanged_shape(context);
}

/// Returns which axes of the tensor the node reverses.
Result<std::vector<bool>> reversed_axes(const KernelContext& context) {
  const Shape& shape = context.input(0).shape();
  const Tensor& axes = context.input(1);
  if (axes.dtype() != DType::Bool) {
    TROUPE_ASSIGN(const Dims numbers, integer_vector(axes, "axis"));
    return reversed_axes(numbers, shape.rank());
  }
  if (axes.shape().rank() != 1)
    return invalid_argument("dims has shape " + axes.shape().text() + "; it must be a vector");
  TROUPE_RETURN_IF_FAILED(check_flags(shape, axes.shape()));
  const auto flags = axes.as<bool>();
  return std::vector<bool>(flags.begin(), flags.end());
}

void reverse_gradient(GradientContext& context) {
  context.set(0, context.scope().add_one(context.node().type(), {context.gradient(), context.input(1)}));
}

}  // namespace

Result<BoxCopyArguments> check_reverse(KernelContext& context) {
  const Tensor& tensor = context.input(0);
  const auto dims = tensor.shape().dims();
  TROUPE_ASSIGN(const auto reversed, reversed_axes(context));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, tensor.shape()));
  const Layout to{0, strides_of(dims)};
  Layout from = to;
  for (size_t i = 0; i < dims.size(); ++i)
    if (reversed[i]) {
      from.offset += (dims[i] - 1) * from.strides[i];
      from.strides[i] = -from.strides[i];
    }
  return BoxCopyArguments{&tensor, output, BoxCopy(dims, from, to)};
}

void add_reverse(OpLibrary& library) {
  const char* const types =
      "T: {half, bfloat16, float, double, int8, uint8, int16, uint16, int32, uint32, int64, uint64, "
      "complex64, "
      "complex128, bool, string}";
  library.op(OpDefBuilder("ReverseV2")
                 .input("tensor: T")
                 .host_input("axis: Tidx")
                 .output("output: T")
                 .attr("Tidx: {int32, int64} = int32")
                 .attr(types)
                 .constructor("reverse(tensor, axis)")
                 .shape(reverse_shape)
                 .gradient(reverse_gradient));
  library.op(OpDefBuilder("Reverse")
                 .input("tensor: T")
                 .host_input("dims: bool")
                 .output("output: T")
                 .attr(types)
                 .shape(flagged_reverse_shape)
                 .gradient(reverse_gradient));
  for (const char* name : {"ReverseV2", "Reverse"})
    library.kernel(cpu_kernel(name, check_reverse, compute_box_copy));
}

}  // namespace troupe
