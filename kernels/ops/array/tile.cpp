// Tile(input, multiples): the input repeated multiples[i] times along dimension i.
#include <algorithm>

#include "kernels/core/arguments.h"
#include "kernels/ops/array/copies.h"

namespace troupe {
namespace {

Result<Dims> tiled_dims(std::span<const int64_t> dims, std::span<const int64_t> multiples) {
  if (multiples.size() != dims.size())
    return invalid_argument("multiples " + text_of(multiples) +
                            " must have one element for each dimension of input, which has shape " +
                            text_of(dims));
  Dims tiled(dims);
  for (size_t i = 0; i < dims.size(); ++i) {
    if (multiples[i] < 0)
      return invalid_argument("multiples " + text_of(multiples) + " has a negative element");
    if (dims[i] != unknown_dim && __builtin_mul_overflow(dims[i], multiples[i], &tiled[i]))
      return invalid_argument("multiples " + text_of(multiples) + " are too large for shape " +
                              text_of(dims));
  }
  return tiled;
}

Status tile_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto length, context.with_rank(1, 1));
  PartialShape input = context.input(0);
  const auto multiples = context.constant_integers(1);
  if (!input.known_rank() && length[0] != unknown_dim && length[0] <= static_cast<int64_t>(Shape::max_rank))
    input = PartialShape::of_rank(static_cast<size_t>(length[0]));
  if (!input.known_rank()) return {};
  if (length[0] != unknown_dim && length[0] != static_cast<int64_t>(input.rank()))
    return invalid_argument("multiples has shape " + length.text() + " and input has shape " + input.text() +
                            "; there must be one element for each dimension");
  PartialShape tiled = PartialShape::of_rank(input.rank());
  if (multiples) {
    TROUPE_ASSIGN(const Dims dims, tiled_dims(input.dims(), *multiples));
    tiled = partial(dims);
  } else if (const auto known = context.partial_integers(1)) {
    Dims dims(tiled.dims());
    for (size_t i = 0; i < std::min(dims.size(), known->size()); ++i)
      if (input[i] == unknown_dim || (*known)[i] == unknown_dim ||
          __builtin_mul_overflow(input[i], (*known)[i], &dims[i]))
        dims[i] = unknown_dim;
    tiled = partial(dims);
  }
  context.set_output(0, std::move(tiled));
  return {};
}

/// The gradient is reshaped to [multiples[0], dim[0], multiples[1], dim[1], ...] and summed over the repetitions.
void tile_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const DType dtype = scope.dtype(context.input(1));
  const Output pairs = scope.add_one("Pack", {context.input(1), shape_of(scope, context.input(0), dtype)},
                                     {{"axis", int64_t{1}}});
  const Output split_shape = scope.add_one("Reshape", {pairs, integer_constants(scope, Dims{-1})});
  const Output ends = scope.add_one("Size", {split_shape});
  const Output axes = scope.add_one("Range", {integer_constant(scope, 0), ends, integer_constant(scope, 2)});
  const Output split = scope.add_one("Reshape", {context.gradient(), split_shape});
  context.set(0, scope.add_one("Sum", {split, axes}));
}

}  // namespace

/// Every dimension becomes two dimensions of the box: the repetition, along which the input is read again, and the dimension
/// itself.
Result<BoxCopyArguments> check_tile(KernelContext& context) {
  const Tensor& input = context.input(0);
  TROUPE_ASSIGN(const Dims multiples, integer_vector(context.input(1), "multiples"));
  TROUPE_ASSIGN(const Dims tiled, tiled_dims(input.shape().dims(), multiples));
  TROUPE_ASSIGN(const Shape shape, Shape::make(tiled, input.dtype()));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  Dims dims;
  Layout from, to;
  const Dims from_strides = strides_of(input.shape().dims()), to_strides = strides_of(tiled);
  for (size_t i = 0; i < tiled.size(); ++i) {
    const int64_t dim = input.shape()[i];
    dims.append(Dims{multiples[i], dim});
    from.strides.append(Dims{0, from_strides[i]});
    to.strides.append(Dims{to_strides[i] * dim, to_strides[i]});
  }
  return BoxCopyArguments{&input, output, BoxCopy(dims, from, to)};
}

void add_tile_ops(OpLibrary& library) {
  library.op(OpDefBuilder("Tile")
                 .input("input: T")
                 .host_input("multiples: Tmultiples")
                 .output("output: T")
                 .attr("T: type")
                 .attr("Tmultiples: {int32, int64} = int32")
                 .constructor("tile(input, multiples)")
                 .shape(tile_shape)
                 .gradient(tile_gradient));
  library.kernel(cpu_kernel("Tile", check_tile, compute_box_copy));
}

}  // namespace troupe
