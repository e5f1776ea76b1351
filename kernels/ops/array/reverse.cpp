// ReverseV2(tensor, axis): the tensor with the order of elements reversed along each listed axis.
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

void reverse_gradient(GradientContext& context) {
  context.set(0, context.scope().add_one("ReverseV2", {context.gradient(), context.input(1)}));
}

}  // namespace

Result<BoxCopyArguments> check_reverse(KernelContext& context) {
  const Tensor& tensor = context.input(0);
  const auto dims = tensor.shape().dims();
  TROUPE_ASSIGN(const Dims axes, integer_vector(context.input(1), "axis"));
  TROUPE_ASSIGN(const auto reversed, reversed_axes(axes, dims.size()));
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
  library.op(OpDefBuilder("ReverseV2")
                 .input("tensor: T")
                 .host_input("axis: Tidx")
                 .output("output: T")
                 .attr("Tidx: {int32, int64} = int32")
                 .attr("T: {half, bfloat16, float, double, int8, uint8, int16, uint16, int32, uint32, int64, "
                       "uint64, complex64, "
                       "complex128, bool, string}")
                 .constructor("reverse(tensor, axis)")
                 .shape(reverse_shape)
                 .gradient(reverse_gradient));
  library.kernel(cpu_kernel("ReverseV2", check_reverse, compute_box_copy));
}

}  // namespace troupe
