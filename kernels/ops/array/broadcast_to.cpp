// NumPy broadcasting.
//   BroadcastTo(input, shape)    the input repeated to `shape`. Fails with InvalidArgument if it does not broadcast to that shape
//   BroadcastArgs(s0, s1)        the shape to which tensors of shapes s0 and s1 broadcast
#include <algorithm>

#include "graph/build/gradients.h"
#include "kernels/core/arguments.h"
#include "kernels/ops/array/copies.h"
#include "kernels/ops/broadcast_gradients.h"

namespace troupe {
namespace {

Status broadcast_to_shape(ShapeContext& context) {
  TROUPE_ASSIGN(auto shape, shape_from_input(context, 1));
  const auto both = broadcast(context.input(0), shape);
  auto merged = both ? merge(shape, *both) : both;
  if (!merged)
    return invalid_argument("input of shape " + context.input(0).text() + " does not broadcast to " +
                            shape.text());
  context.set_output(0, std::move(*merged));
  return {};
}

void broadcast_to_gradient(GradientContext& context) {
  context.set(0, summed_to_shape_of(context.scope(), context.gradient(), context.input(0)));
}

// ---- BroadcastArgs

Status broadcast_args_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto s0, context.with_rank(0, 1));
  TROUPE_ASSIGN(const auto s1, context.with_rank(1, 1));
  const bool known = s0[0] != unknown_dim && s1[0] != unknown_dim;
  context.set_output(0, PartialShape::vector(known ? std::max(s0[0], s1[0]) : unknown_dim));
  return {};
}

/// Dimension i of a shape that has leading dimensions of 1 added, to be of this rank.
int64_t dim_of(const Dims& shape, size_t rank, size_t i) {
  const size_t added = rank - shape.size();
  return i < added ? 1 : shape[i - added];
}

Status run_broadcast_args(KernelContext& context) {
  TROUPE_ASSIGN(const Dims s0, integer_vector(context.input(0), "s0"));
  TROUPE_ASSIGN(const Dims s1, integer_vector(context.input(1), "s1"));
  const size_t rank = std::max(s0.size(), s1.size());
  TROUPE_ASSIGN(Tensor* const output, context.output(0, Shape::vector(static_cast<int64_t>(rank))));
  for (size_t i = 0; i < rank; ++i) {
    const int64_t dim0 = dim_of(s0, rank, i), dim1 = dim_of(s1, rank, i);
    if (dim0 < 0 || dim1 < 0 || (dim0 != dim1 && dim0 != 1 && dim1 != 1))
      return invalid_argument("shapes s0 " + text_of(s0) + " and s1 " + text_of(s1) + " do not broadcast");
    const int64_t dim = dim0 == 1 ? dim1 : dim0;
    if (output->dtype() == DType::Int64)
      output->write<int64_t>()[i] = dim;
    else
      output->write<int32_t>()[i] = static_cast<int32_t>(dim);
  }
  return {};
}

}  // namespace

std::optional<Layout> broadcast_layout(const Shape& shape, std::span<const int64_t> dims) {
  if (shape.rank() > dims.size()) return std::nullopt;
  const size_t leading = dims.size() - shape.rank();
  const Dims strides = strides_of(shape.dims());
  Layout layout{0, Dims(dims.size(), 0)};
  for (size_t i = 0; i < shape.rank(); ++i) {
    if (shape[i] != dims[leading + i] && shape[i] != 1) return std::nullopt;
    if (shape[i] != 1) layout.strides[leading + i] = strides[i];
  }
  return layout;
}

Result<BoxCopyArguments> check_broadcast_to(KernelContext& context) {
  const Tensor& input = context.input(0);
  TROUPE_ASSIGN(const Dims dims, integer_vector(context.input(1), "shape"));
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, input.dtype()));
  const auto from = broadcast_layout(input.shape(), dims);
  if (!from)
    return invalid_argument("input of shape " + input.shape().text() + " does not broadcast to " +
                            shape.text());
  if (shape == input.shape()) {
    context.set_output(0, input);
    return BoxCopyArguments{};
  }
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  return BoxCopyArguments{&input, output, BoxCopy(dims, *from, {0, strides_of(dims)})};
}

void add_broadcast_to(OpLibrary& library) {
  library.op(OpDefBuilder("BroadcastTo")
                 .input("input: T")
                 .host_input("shape: Tidx")
                 .output("output: T")
                 .attr("T: type")
                 .attr("Tidx: {int32, int64} = int32")
                 .constructor("broadcast_to(input, shape)")
                 .shape(broadcast_to_shape)
                 .gradient(broadcast_to_gradient));
  library.kernel(cpu_kernel("BroadcastTo", check_broadcast_to, compute_box_copy).inexpensive());
  library.op(OpDefBuilder("BroadcastArgs")
                 .host_input("s0: T")
                 .host_input("s1: T")
                 .host_output("r0: T")
                 .attr("T: {int32, int64} = int32")
                 .constructor("broadcast_dynamic_shape(s0, s1)")
                 .shape(broadcast_args_shape)
                 .not_differentiable());
  library.kernel(host_kernel("BroadcastArgs", run_broadcast_args).inexpensive());
}

}  // namespace troupe
