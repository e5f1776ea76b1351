// Boxes cut out of tensors.
//   Slice(input, begin, size)    size -1: to the end of the dimension
//   StridedSlice, StridedSliceGrad: see strided_slice.cpp
#include <algorithm>

#include "kernels/core/arguments.h"
#include "kernels/ops/array/copies.h"

namespace troupe {
namespace {

/// Returns `size` with every -1 replaced. Fails with InvalidArgument unless the box is inside `dims`. An unknown dimension sets
/// no bound.
Result<Dims> resolved_box(std::span<const int64_t> dims, std::span<const int64_t> begin,
                          std::span<const int64_t> size) {
  if (begin.size() != dims.size() || size.size() != dims.size())
    return invalid_argument("begin " + text_of(begin) + " and size " + text_of(size) +
                            " must each have one element for each of the " + std::to_string(dims.size()) +
                            " dimensions of input");
  Dims box(size);
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t end = dims[i] == unknown_dim ? INT64_MAX : dims[i];
    const bool begins_inside = begin[i] >= 0 && begin[i] <= end;
    if (begins_inside && box[i] == -1 && dims[i] != unknown_dim) box[i] = end - begin[i];
    const bool open = box[i] == -1 && dims[i] == unknown_dim;
    if (!begins_inside || (box[i] < 0 && !open) || box[i] > end - begin[i])
      return invalid_argument("begin " + text_of(begin) + " and size " + text_of(size) +
                              " are out of bounds in dimension " + std::to_string(i) + " of shape " +
                              text_of(dims));
  }
  return box;
}

Status slice_shape(ShapeContext& context) {
  PartialShape input = context.input(0);
  TROUPE_ASSIGN(const auto begin_shape, context.with_rank(1, 1));
  TROUPE_ASSIGN(const auto size_shape, context.with_rank(2, 1));
  TROUPE_ASSIGN(const auto length, merge(begin_shape, size_shape));
  if (!input.known_rank() && length[0] != unknown_dim && length[0] <= static_cast<int64_t>(Shape::max_rank))
    input = PartialShape::of_rank(static_cast<size_t>(length[0]));
  if (!input.known_rank()) return {};
  if (length[0] != unknown_dim && length[0] != static_cast<int64_t>(input.rank()))
    return invalid_argument("begin and size have " + std::to_string(length[0]) +
                            " elements, but input has shape " + input.text());
  const auto begin = context.constant_integers(1), size = context.constant_integers(2);
  PartialShape box = PartialShape::of_rank(input.rank());
  if (begin && size) {
    TROUPE_ASSIGN(const Dims dims, resolved_box(input.dims(), *begin, *size));
    box = partial(dims);
  } else if (const auto known = context.partial_integers(2); known && known->size() == input.rank()) {
    Dims dims(*known);
    for (int64_t& dim : dims) dim = std::max<int64_t>(dim, unknown_dim);
    box = partial(dims);
  }
  context.set_output(0, std::move(box));
  return {};
}

/// Pads the gradient with zeros: `begin` before it, and the rest of the input after it.
void slice_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output before = context.input(1);
  const DType dtype = scope.dtype(before);
  const Output outside = scope.add_one(
      "Sub", {shape_of(scope, context.input(0), dtype), shape_of(scope, context.output(0), dtype)});
  const Output after = scope.add_one("Sub", {outside, before});
  const Output paddings = scope.add_one("Pack", {before, after}, {{"axis", int64_t{1}}});
  context.set(0, scope.add_one("Pad", {context.gradient(), paddings}));
}

}  // namespace

Result<BoxCopyArguments> check_slice(KernelContext& context) {
  const Tensor& input = context.input(0);
  const auto dims = input.shape().dims();
  TROUPE_ASSIGN(const Dims begin, integer_vector(context.input(1), "begin"));
  TROUPE_ASSIGN(const Dims size, integer_vector(context.input(2), "size"));
  TROUPE_ASSIGN(const Dims box, resolved_box(dims, begin, size));
  TROUPE_ASSIGN(const Shape shape, Shape::make(box, input.dtype()));
  if (shape == input.shape()) {
    context.set_output(0, input);
    return BoxCopyArguments{};
  }
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  Layout from{0, strides_of(dims)};
  for (size_t i = 0; i < dims.size(); ++i) from.offset += begin[i] * from.strides[i];
  return BoxCopyArguments{&input, output, BoxCopy(box, from, {0, strides_of(box)})};
}

void add_slice_ops(OpLibrary& library) {
  library.op(OpDefBuilder("Slice")
                 .input("input: T")
                 .host_input("begin: Index")
                 .host_input("size: Index")
                 .output("output: T")
                 .attr("T: type")
                 .attr("Index: {int32, int64}")
                 .constructor("slice(input, begin, size)")
                 .shape(slice_shape)
                 .gradient(slice_gradient));
  library.kernel(cpu_kernel("Slice", check_slice, compute_box_copy));
}

}  // namespace troupe
