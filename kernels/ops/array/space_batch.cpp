// Blocks moved between spatial dimensions and the batch. Dimension 0 is the batch, the next M = block_shape.size dimensions are
// spatial.
//   SpaceToBatchND(input, block_shape, paddings)   the spatial dimensions padded with zeros, paddings[i] = (before, after), then
//                                                  cut in blocks: element `offset` of every block goes to the batch entries
//                                                  [offset * batch, (offset + 1) * batch) of the result, where offsets count a
//                                                  block row by row
//   BatchToSpaceND(input, block_shape, crops)      the inverse: crops[i] = (before, after) elements of a spatial dimension are
//                                                  left out
//   SpaceToBatch, BatchToSpace                     the same of a tensor of rank 4, with blocks of block_size x block_size
#include "kernels/ops/array/space_batch.h"

#include <algorithm>

#include "kernels/core/arguments.h"
#include "kernels/ops/array/copies.h"

namespace troupe {
namespace {

bool to_batch(const Node& node) { return node.type().starts_with("SpaceToBatch"); }
bool is_nd(const Node& node) { return node.type().ends_with("ND"); }
/// Which input holds the paddings or crops.
size_t margins_input(const Node& node) { return is_nd(node) ? 2 : 1; }
const char* margins_name(const Node& node) { return to_batch(node) ? "paddings" : "crops"; }

Status check_blocks(const Node& node, const Blocks& blocks) {
  const std::string name = margins_name(node);
  for (size_t i = 0; i < blocks.sizes.size(); ++i) {
    if (blocks.sizes[i] < 1)
      return invalid_argument("block_shape " + text_of(blocks.sizes) + " has an element less than 1");
    if (blocks.before(i) < 0 || blocks.after(i) < 0)
      return invalid_argument(name + " " + text_of(blocks.margins) + " has a negative element");
  }
  return {};
}

/// InvalidArgument "SUBJECT of dimension 1 of shape [..]".
Status refused(const std::string& subject, size_t axis, std::span<const int64_t> dims) {
  return invalid_argument(subject + " of dimension " + std::to_string(axis) + " of shape " +
                          partial(dims).text());
}

/// A spatial dimension of the result.
Result<int64_t> spatial_dim(const Node& node, std::span<const int64_t> input, size_t axis,
                            const Blocks& blocks) {
  const int64_t block = blocks.sizes[axis - 1], before = blocks.before(axis - 1),
                after = blocks.after(axis - 1);
  const std::string margins =
      std::string(margins_name(node)) + " (" + std::to_string(before) + ", " + std::to_string(after) + ")";
  int64_t dim = input[axis], both = 0;
  if (dim == unknown_dim) return dim;
  if (__builtin_add_overflow(before, after, &both)) return refused(margins + " are too large", axis, input);
  if (!to_batch(node)) {
    if (__builtin_mul_overflow(dim, block, &dim))
      return refused("the size in blocks is too large", axis, input);
    if (both > dim) return refused(margins + " are more than the size", axis, input);
    return dim - both;
  }
  if (__builtin_add_overflow(dim, both, &dim)) return refused(margins + " are too large", axis, input);
  if (dim % block != 0)
    return refused(
        "the padded size " + std::to_string(dim) + " is not a multiple of block " + std::to_string(block),
        axis, input);
  return dim / block;
}

/// The dimensions of the result; unknown ones stay unknown.
Result<Dims> batch_moved_dims(const Node& node, std::span<const int64_t> input, const Blocks& blocks) {
  TROUPE_RETURN_IF_FAILED(check_blocks(node, blocks));
  if (input.size() <= blocks.sizes.size())
    return invalid_argument("input of shape " + partial(input).text() + " for block_shape " +
                            text_of(blocks.sizes));
  Dims dims(input);
  int64_t count = 1;
  for (size_t i = 0; i < blocks.sizes.size(); ++i) {
    if (__builtin_mul_overflow(count, blocks.sizes[i], &count))
      return invalid_argument("block_shape " + text_of(blocks.sizes) + " is too large");
    TROUPE_ASSIGN(dims[i + 1], spatial_dim(node, input, i + 1, blocks));
  }
  if (dims[0] == unknown_dim) return dims;
  if (!to_batch(node) && dims[0] % count != 0)
    return refused("block_shape " + text_of(blocks.sizes) + " does not divide the size", 0, input);
  if (!to_batch(node))
    dims[0] /= count;
  else if (__builtin_mul_overflow(dims[0], count, &dims[0]))
    return refused("block_shape " + text_of(blocks.sizes) + " is too large for the size", 0, input);
  return dims;
}

Dims square(const Node& node) { return Dims(2, node.attrs.get<int64_t>("block_size")); }

// ---- Shape functions

/// The number of spatial dimensions, as far as the shapes of block_shape and margins tell: -1 is unknown.
Result<int64_t> spatial_rank(const ShapeContext& context) {
  const Node& node = context.node();
  int64_t rank = 2;
  if (is_nd(node)) {
    TROUPE_ASSIGN(const auto block_shape, context.with_rank(1, 1));
    rank = block_shape[0];
  }
  TROUPE_ASSIGN(const auto margins, context.with_rank(margins_input(node), 2));
  TROUPE_ASSIGN(const auto merged, merge(margins, PartialShape{rank, 2}));
  return merged[0];
}

Status batch_moved_shape(ShapeContext& context) {
  const Node& node = context.node();
  TROUPE_ASSIGN(const int64_t rank, spatial_rank(context));
  if (!is_nd(node)) TROUPE_RETURN_IF_FAILED(context.with_rank(0, 4).status());
  const PartialShape& input = context.input(0);
  if (!input.known_rank()) return {};
  if (rank >= static_cast<int64_t>(input.rank()))
    return invalid_argument("input of shape " + input.text() + " for " + std::to_string(rank) +
                            " spatial dimensions");
  const auto sizes = is_nd(node) ? context.constant_integers(1) : std::nullopt;
  const auto margins = context.constant_integers(margins_input(node));
  PartialShape moved = PartialShape::of_rank(input.rank());
  if (margins && (sizes || !is_nd(node))) {
    const Blocks blocks{sizes ? Dims(*sizes) : square(node), Dims(*margins)};
    TROUPE_ASSIGN(const Dims dims, batch_moved_dims(node, input.dims(), blocks));
    moved = partial(dims);
  }
  context.set_output(0, std::move(moved));
  return {};
}

// ---- Kernels

Result<Blocks> read_blocks(const KernelContext& context) {
  const Node& node = context.node();
  const Tensor& margins = context.input(margins_input(node));
  Blocks blocks;
  if (is_nd(node)) {
    TROUPE_ASSIGN(blocks.sizes, integer_vector(context.input(1), "block_shape"));
  } else {
    blocks.sizes = square(node);
  }
  const auto rank = static_cast<int64_t>(blocks.sizes.size());
  if (margins.shape().rank() != 2 || margins.shape()[0] != rank || margins.shape()[1] != 2)
    return invalid_argument(std::string(margins_name(node)) + " of shape " + margins.shape().text() +
                            ", expected [" + std::to_string(rank) + ",2]");
  blocks.margins = integers(margins);
  return blocks;
}

/// The box of elements that stand at one offset in their blocks, in the tensor with the larger spatial dimensions (`space`) and in
/// that with the larger batch.
struct OffsetBox {
  Dims sizes;
  Layout space, batch;
};

OffsetBox box_at(const Blocks& blocks, const Dims& offset, int64_t number, const Shape& space,
                 const Shape& batch) {
  OffsetBox box{Dims(space.dims()), {0, strides_of(space.dims())}, {0, strides_of(batch.dims())}};
  box.batch.offset = number * space[0] * box.batch.strides[0];
  for (size_t i = 0; i < offset.size(); ++i) {
    // Block p holds element p * size + offset - before of the dimension.
    const int64_t size = blocks.sizes[i], start = offset[i] - blocks.before(i);
    const int64_t first = start >= 0 ? 0 : (-start + size - 1) / size;
    const int64_t last = space[i + 1] - 1 - start;
    box.sizes[i + 1] = last < 0 ? 0 : std::max<int64_t>(last / size - first + 1, 0);
    box.space.offset += (first * size + start) * box.space.strides[i + 1];
    box.batch.offset += first * box.batch.strides[i + 1];
    box.space.strides[i + 1] *= size;
  }
  return box;
}

void compute_move(const SpaceBatchArguments& arguments, DeviceContext& device) {
  const auto& [input, output, to_batch, blocks] = arguments;
  if (to_batch && std::ranges::any_of(blocks.margins, [](int64_t margin) { return margin != 0; }))
    fill(device.pool(), output);
  if (input.elements() == 0 || output.elements() == 0) return;
  const Shape &space = to_batch ? input.shape() : output.shape(),
              &batch = to_batch ? output.shape() : input.shape();
  const int64_t offsets = batch[0] / space[0];
  for (int64_t number = 0; number < offsets; ++number) {
    Dims offset(blocks.sizes.size());
    int64_t rest = number;
    for (size_t i = offset.size(); i-- > 0; rest /= blocks.sizes[i]) offset[i] = rest % blocks.sizes[i];
    const OffsetBox box = box_at(blocks, offset, number, space, batch);
    if (to_batch)
      strided_copy(device.pool(), box.sizes, input, box.space, output, box.batch);
    else
      strided_copy(device.pool(), box.sizes, input, box.batch, output, box.space);
  }
}

void batch_move_gradient(GradientContext& context) {
  const Node& node = context.node();
  const std::string inverse =
      std::string(to_batch(node) ? "BatchToSpace" : "SpaceToBatch") + (is_nd(node) ? "ND" : "");
  if (is_nd(node))
    return context.set(
        0, context.scope().add_one(inverse, {context.gradient(), context.input(1), context.input(2)}));
  context.set(0, context.scope().add_one(inverse, {context.gradient(), context.input(1)},
                                         {{"block_size", context.attr<int64_t>("block_size")}}));
}

OpDefBuilder move_op(const char* name) {
  return OpDefBuilder(name)
      .input("input: T")
      .attr("T: type")
      .shape(batch_moved_shape)
      .gradient(batch_move_gradient);
}

}  // namespace

Result<SpaceBatchArguments> check_space_batch(KernelContext& context) {
  const Node& node = context.node();
  const Tensor& input = context.input(0);
  TROUPE_ASSIGN(const Blocks blocks, read_blocks(context));
  if (!is_nd(node) && input.shape().rank() != 4)
    return invalid_argument("input of shape " + input.shape().text() + " is not of rank 4");
  TROUPE_ASSIGN(const Dims dims, batch_moved_dims(node, input.shape().dims(), blocks));
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, input.dtype()));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  return SpaceBatchArguments{input, *output, to_batch(node), blocks};
}

void add_space_batch_ops(OpLibrary& library) {
  library.op(move_op("SpaceToBatch")
                 .host_input("paddings: Tpaddings")
                 .output("output: T")
                 .attr("Tpaddings: {int32, int64} = int32")
                 .attr("block_size: int >= 2"));
  library.op(move_op("BatchToSpace")
                 .host_input("crops: Tidx")
                 .output("output: T")
                 .attr("block_size: int >= 2")
                 .attr("Tidx: {int32, int64} = int32"));
  library.op(move_op("SpaceToBatchND")
                 .host_input("block_shape: Tblock_shape")
                 .host_input("paddings: Tpaddings")
                 .output("output: T")
                 .attr("Tblock_shape: {int32, int64} = int32")
                 .attr("Tpaddings: {int32, int64} = int32")
                 .constructor("space_to_batch_nd(input, block_shape, paddings)"));
  library.op(move_op("BatchToSpaceND")
                 .host_input("block_shape: Tblock_shape")
                 .host_input("crops: Tcrops")
                 .output("output: T")
                 .attr("Tblock_shape: {int32, int64} = int32")
                 .attr("Tcrops: {int32, int64} = int32")
                 .constructor("batch_to_space_nd(input, block_shape, crops)"));
  for (const char* name : {"SpaceToBatch", "BatchToSpace", "SpaceToBatchND", "BatchToSpaceND"})
    library.kernel(cpu_kernel(name, check_space_batch, compute_move));
}

}  // namespace troupe
