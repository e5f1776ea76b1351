// BroadcastTo(input, shape): input repeated to `shape` as in NumPy broadcasting. Fails with InvalidArgument if it does not
// broadcast to that shape.
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

}  // namespace

Result<BoxCopyArguments> check_broadcast_to(KernelContext& context) {
  const Tensor& input = context.input(0);
  TROUPE_ASSIGN(const Dims dims, integer_vector(context.input(1), "shape"));
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, input.dtype()));
  const size_t rank = input.shape().rank();
  const auto refused = [&] {
    return invalid_argument("input of shape " + input.shape().text() + " does not broadcast to " +
                            shape.text());
  };
  if (rank > dims.size()) return refused();
  const size_t leading = dims.size() - rank;
  const Dims strides = strides_of(input.shape().dims());
  Layout from{0, Dims(dims.size(), 0)};
  for (size_t i = 0; i < rank; ++i) {
    const int64_t dim = input.shape()[i];
    if (dim != dims[leading + i] && dim != 1) return refused();
    if (dim != 1) from.strides[leading + i] = strides[i];
  }
  if (shape == input.shape()) {
    context.set_output(0, input);
    return BoxCopyArguments{};
  }
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  return BoxCopyArguments{&input, output, BoxCopy(dims, from, {0, strides_of(dims)})};
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
}

}  // namespace troupe
