// Blocks of pixels moved between the spatial dimensions and the channels. Image tensors of rank 4, NHWC or NCHW.
//   SpaceToDepth(input, block_size)   each block of block_size x block_size pixels becomes one pixel: its channels are those of
//                                     the first pixel of the block, then those of the second, row by row. Height and width must
//                                     be multiples of block_size
//   DepthToSpace(input, block_size)   the inverse. The number of channels must be a multiple of block_size^2
#include <array>

#include "kernels/core/arguments.h"
#include "kernels/ops/array/copies.h"

namespace troupe {
namespace {

/// Which dimensions are height, width and channels.
struct ImageAxes {
  size_t height, width, channels;
};
ImageAxes image_axes(const Node& node) {
  const bool channels_first = node.attrs.get<std::string>("data_format") == "NCHW";
  return channels_first ? ImageAxes{2, 3, 1} : ImageAxes{1, 2, 3};
}

bool to_depth(const Node& node) { return node.type() == "SpaceToDepth"; }

Status divide(Dims& dims, size_t axis, int64_t divisor) {
  if (dims[axis] == unknown_dim) return {};
  if (dims[axis] % divisor != 0)
    return invalid_argument("dimension " + std::to_string(axis) + " of shape " + partial(dims).text() +
                            " is not a multiple of " + std::to_string(divisor));
  dims[axis] /= divisor;
  return {};
}

Status multiply(Dims& dims, size_t axis, int64_t factor) {
  if (dims[axis] != unknown_dim && __builtin_mul_overflow(dims[axis], factor, &dims[axis]))
    return invalid_argument("dimension " + std::to_string(axis) + " of shape " + partial(dims).text() +
                            " is too large for block_size");
  return {};
}

/// The dimensions of the result; unknown ones stay unknown.
Result<Dims> moved_dims(const Node& node, std::span<const int64_t> input) {
  if (input.size() != 4)
    return invalid_argument("input of shape " + partial(input).text() + " is not of rank 4");
  const auto block = node.attrs.get<int64_t>("block_size");
  const ImageAxes axes = image_axes(node);
  int64_t pixels = 0;
  if (__builtin_mul_overflow(block, block, &pixels))
    return invalid_argument("block_size " + std::to_string(block) + " is too large");
  Dims dims(input);
  const auto change_space = to_depth(node) ? divide : multiply,
             change_depth = to_depth(node) ? multiply : divide;
  TROUPE_RETURN_IF_FAILED(change_space(dims, axes.height, block));
  TROUPE_RETURN_IF_FAILED(change_space(dims, axes.width, block));
  TROUPE_RETURN_IF_FAILED(change_depth(dims, axes.channels, pixels));
  return dims;
}

Status moved_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto input, context.with_rank(0, 4));
  TROUPE_ASSIGN(const Dims dims, moved_dims(context.node(), input.dims()));
  context.set_output(0, partial(dims));
  return {};
}

/// A walk over batch, height and width in blocks, rows and columns of a block, channels of a pixel: sizes, and the strides in the
/// tensor with the larger images and in that with more channels.
struct BlockWalk {
  Dims sizes;
  Layout space, depth;
};
BlockWalk block_walk(const ImageAxes& axes, int64_t block, const Shape& space, const Shape& depth) {
  const Dims in_space = strides_of(space.dims()), in_depth = strides_of(depth.dims());
  const auto [height, width, channels] = axes;
  const int64_t pixel = space[channels] * in_depth[channels];
  return {
      Dims{depth[0], depth[height], depth[width], block, block, space[channels]},
      {0, Dims{in_space[0], block * in_space[height], block * in_space[width], in_space[height],
               in_space[width], in_space[channels]}},
      {0, Dims{in_depth[0], in_depth[height], in_depth[width], block * pixel, pixel, in_depth[channels]}}};
}

/// Walks the output in the order of its memory.
using Order = std::array<size_t, 6>;
Order order_of(const Node& node) {
  const bool channels_last = image_axes(node).channels == 3;
  if (to_depth(node)) return channels_last ? Order{0, 1, 2, 3, 4, 5} : Order{0, 3, 4, 5, 1, 2};
  return channels_last ? Order{0, 1, 3, 2, 4, 5} : Order{0, 5, 1, 3, 2, 4};
}

Dims ordered(const Dims& values, const Order& order) {
  Dims result;
  for (const size_t i : order) result.push_back(values[i]);
  return result;
}

void move_gradient(GradientContext& context) {
  const char* const inverse = to_depth(context.node()) ? "DepthToSpace" : "SpaceToDepth";
  context.set(0, context.scope().add_one(inverse, {context.gradient()},
                                         {{"block_size", context.attr<int64_t>("block_size")},
                                          {"data_format", context.attr<std::string>("data_format")}}));
}

}  // namespace

Result<BoxCopyArguments> check_space_depth(KernelContext& context) {
  const Node& node = context.node();
  const Tensor& input = context.input(0);
  TROUPE_ASSIGN(const Dims dims, moved_dims(node, input.shape().dims()));
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, input.dtype()));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  if (shape.elements() == 0) return BoxCopyArguments{};
  const Shape &space = to_depth(node) ? input.shape() : shape,
              &depth = to_depth(node) ? shape : input.shape();
  const BlockWalk walk = block_walk(image_axes(node), node.attrs.get<int64_t>("block_size"), space, depth);
  const Order order = order_of(node);
  const Layout in_space{0, ordered(walk.space.strides, order)},
      in_depth{0, ordered(walk.depth.strides, order)};
  const Dims sizes = ordered(walk.sizes, order);
  return BoxCopyArguments{
      &input, output,
      to_depth(node) ? BoxCopy(sizes, in_space, in_depth) : BoxCopy(sizes, in_depth, in_space)};
}

void add_space_depth_ops(OpLibrary& library) {
  const auto op = [](const char* name) {
    return OpDefBuilder(name)
        .input("input: T")
        .output("output: T")
        .attr("T: type")
        .attr("block_size: int >= 2")
        .attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
        .shape(moved_shape)
        .gradient(move_gradient);
  };
  library.op(op("SpaceToDepth").constructor("space_to_depth(input, block_size, data_format)"));
  library.op(op("DepthToSpace").constructor("depth_to_space(input, block_size, data_format)"));
  for (const char* name : {"SpaceToDepth", "DepthToSpace"})
    library.kernel(cpu_kernel(name, check_space_depth, compute_box_copy));
}

}  // namespace troupe
