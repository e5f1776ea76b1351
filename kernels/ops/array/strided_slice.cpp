// Slices in the notation of NumPy: input[begin:end:stride, ...], with one entry for each index. Bit i of a mask applies to entry i.
//   begin_mask, end_mask   the bound is left out: the slice goes to the end of the dimension on that side
//   ellipsis_mask          "...": as many full dimensions as the other entries leave; without it, there is an ellipsis at the end
//   new_axis_mask          inserts a dimension of size 1; takes precedence over shrink_axis_mask
//   shrink_axis_mask       a single index, begin, whose dimension is removed; out of range it is an error
// Negative bounds count from the end, and bounds are clipped, as in Python. A stride must not be 0.
//   StridedSlice(input, begin, end, strides)
//   StridedSliceGrad(shape, begin, end, strides, dy)   zeros of `shape`, with dy at the position of that slice
#include "kernels/ops/array/strided_slice.h"

#include <algorithm>
#include <bit>

#include "kernels/core/arguments.h"
#include "kernels/ops/array/copies.h"

namespace troupe {
namespace {

struct Masks {
  int64_t begin, end, ellipsis, new_axis, shrink_axis;
  explicit Masks(const Attributes& attrs)
      : begin(attrs.get<int64_t>("begin_mask")), end(attrs.get<int64_t>("end_mask")),
        ellipsis(attrs.get<int64_t>("ellipsis_mask")), new_axis(attrs.get<int64_t>("new_axis_mask")),
        shrink_axis(attrs.get<int64_t>("shrink_axis_mask")) {}
};
bool has(int64_t mask, size_t i) { return i < 63 && (mask >> i & 1) != 0; }

/// A slice with all implicit parts made explicit: for each dimension of the input its begin, stride and number of elements (-1
/// if unknown), and the dimensions of the result, with the input's axis of each (-1 for a new axis).
struct Box {
  Dims begin, stride, size;
  Dims result, result_axes;

  void add_result(int64_t dim, int64_t axis) {
    result.push_back(dim);
    result_axes.push_back(axis);
  }
};

/// One "begin:end:stride" entry for a dimension. While a graph is built, its bounds may not be known.
struct Entry {
  int64_t begin, end, stride;
  bool open_begin, open_end, single, known = true;
};

Status add_dimension(Box& box, std::span<const int64_t> dims, const Entry& entry) {
  const size_t axis = box.size.size();
  if (axis >= dims.size())
    return invalid_argument("there are more indices than the " + std::to_string(dims.size()) +
                            " dimensions of shape " + text_of(dims));
  if (entry.known && entry.stride == 0)
    return invalid_argument("the stride of dimension " + std::to_string(axis) +
                            " is 0; strides must not be 0");
  const int64_t dim = entry.known ? dims[axis] : unknown_dim;
  if (entry.single) {
    if (entry.known && entry.stride < 0)
      return invalid_argument("the stride of dimension " + std::to_string(axis) + " is " +
                              std::to_string(entry.stride) +
                              "; a single index (shrink_axis_mask) needs a positive stride");
    const int64_t at = entry.begin < 0 && dim != unknown_dim ? entry.begin + dim : entry.begin;
    if (dim != unknown_dim && (at < 0 || at >= dim))
      return invalid_argument("index " + std::to_string(entry.begin) + " is outside dimension " +
                              std::to_string(axis) + " of size " + std::to_string(dim));
    box.begin.push_back(at);
    box.stride.push_back(1);
    box.size.push_back(1);
    return {};
  }
  if (dim == unknown_dim) {
    box.begin.push_back(0);
    box.stride.push_back(1);
    box.size.push_back(unknown_dim);
  } else {
    const bool forward = entry.stride > 0;
    const int64_t first = forward ? 0 : -1, last = forward ? dim : dim - 1;
    const auto clipped = [&](int64_t at) { return std::clamp(at < 0 ? at + dim : at, first, last); };
    const int64_t begin = entry.open_begin ? (forward ? first : last) : clipped(entry.begin);
    const int64_t end = entry.open_end ? (forward ? last : first) : clipped(entry.end);
    const int64_t length = end - begin;
    const bool any = forward ? length > 0 : length < 0;
    box.begin.push_back(begin);
    box.size.push_back(any ? length / entry.stride + (length % entry.stride != 0 ? 1 : 0) : 0);
    box.stride.push_back(box.size.back() > 1 ? entry.stride
                                             : 1);  // a stride beyond the dimension may be of any size
  }
  box.add_result(box.size.back(), static_cast<int64_t>(axis));
  return {};
}

/// Adds full dimensions for an ellipsis and leaves `entries_left` dimensions for the entries that follow.
void add_ellipsis(Box& box, std::span<const int64_t> dims, size_t entries_left) {
  const size_t end = dims.size() > entries_left ? dims.size() - entries_left : 0;
  for (size_t axis = box.size.size(); axis < end; ++axis) {
    box.begin.push_back(0);
    box.stride.push_back(1);
    box.size.push_back(dims[axis]);
    box.add_result(dims[axis], static_cast<int64_t>(axis));
  }
}

/// Bit i of `unknown`: the bounds of entry i are not known.
Result<Box> resolve(std::span<const int64_t> dims, const Masks& masks, std::span<const int64_t> begin,
                    std::span<const int64_t> end, std::span<const int64_t> strides, int64_t unknown = 0) {
  const size_t entries = begin.size();
  if (end.size() != entries || strides.size() != entries)
    return invalid_argument("begin, end and strides have " + std::to_string(entries) + ", " +
                            std::to_string(end.size()) + " and " + std::to_string(strides.size()) +
                            " elements; the numbers must be equal");
  if (std::popcount(static_cast<uint64_t>(masks.ellipsis)) > 1)
    return invalid_argument("ellipsis_mask selects more than one ellipsis");
  Box box;
  for (size_t i = 0; i < entries; ++i) {
    if (has(masks.ellipsis, i)) {
      size_t after = 0;
      for (size_t k = i + 1; k < entries; ++k) after += has(masks.new_axis, k) ? 0 : 1;
      add_ellipsis(box, dims, after);
    } else if (has(masks.new_axis, i)) {
      box.add_result(1, -1);
    } else {
      const Entry entry{begin[i],          end[i],
                        strides[i],        has(masks.begin, i),
                        has(masks.end, i), has(masks.shrink_axis, i),
                        !has(unknown, i)};
      TROUPE_RETURN_IF_FAILED(add_dimension(box, dims, entry));
    }
  }
  add_ellipsis(box, dims, 0);
  return box;
}

/// Returns the layout of the box in a row-major tensor of `dims`.
Layout layout_of(const Box& box, std::span<const int64_t> dims) {
  Layout layout{0, strides_of(dims)};
  for (size_t i = 0; i < dims.size(); ++i) {
    layout.offset += box.begin[i] * layout.strides[i];
    layout.strides[i] *= box.stride[i];
  }
  return layout;
}

/// Returns the box that inputs first, first + 1 and first + 2 of a node select in a tensor of `dims`.
Result<Box> box_of(const KernelContext& context, std::span<const int64_t> dims, size_t first) {
  TROUPE_ASSIGN(const Dims begin, integer_vector(context.input(first), "begin"));
  TROUPE_ASSIGN(const Dims end, integer_vector(context.input(first + 1), "end"));
  TROUPE_ASSIGN(const Dims strides, integer_vector(context.input(first + 2), "strides"));
  return resolve(dims, Masks(context.node().attrs), begin, end, strides);
}

/// The elements of an input as far as they are known. unknown_dim is a bound as well, so a set tells which ones are not known.
struct Bounds {
  std::vector<int64_t> values;
  int64_t unknown = 0;  ///< bit i: element i
};

std::optional<Bounds> bounds_of(const ShapeContext& context, size_t input) {
  if (auto constants = context.constant_integers(input)) return Bounds{std::move(*constants)};
  auto partly = context.partial_integers(input);
  if (!partly || partly->size() > 63) return {};
  Bounds bounds{std::move(*partly)};
  for (size_t i = 0; i < bounds.values.size(); ++i)
    if (bounds.values[i] == unknown_dim) bounds.unknown |= int64_t{1} << i;
  return bounds;
}

Status strided_slice_shape(ShapeContext& context) {
  TROUPE_ASSIGN(PartialShape shape, sliced_shape(context));
  context.set_output(0, std::move(shape));
  return {};
}

Attributes mask_attributes(const GradientContext& context) {
  Attributes attrs;
  for (const char* name : {"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"})
    attrs.set(name, context.attr<int64_t>(name));
  return attrs;
}

void strided_slice_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output shape = shape_of(scope, context.input(0), scope.dtype(context.input(1)));
  context.set(0,
              scope.add_one("StridedSliceGrad",
                            {shape, context.input(1), context.input(2), context.input(3), context.gradient()},
                            mask_attributes(context)));
}

Status strided_slice_grad_shape(ShapeContext& context) {
  for (size_t i = 1; i < 4; ++i) TROUPE_RETURN_IF_FAILED(context.with_rank(i, 1).status());
  TROUPE_ASSIGN(auto shape, shape_from_input(context, 0));
  context.set_output(0, std::move(shape));
  return {};
}

void strided_slice_grad_gradient(GradientContext& context) {
  context.set(
      4, context.scope().add_one("StridedSlice",
                                 {context.gradient(), context.input(1), context.input(2), context.input(3)},
                                 mask_attributes(context)));
}

}  // namespace

OpDefBuilder with_masks(OpDefBuilder builder) {
  for (const char* name : {"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"})
    builder.attr(std::string(name) + ": int = 0");
  return builder;
}

Result<PartialShape> sliced_shape(const ShapeContext& context) {
  for (size_t i = 1; i < 4; ++i) TROUPE_RETURN_IF_FAILED(context.with_rank(i, 1).status());
  const auto begin = bounds_of(context, 1), end = bounds_of(context, 2), strides = bounds_of(context, 3);
  if (!context.input(0).known_rank() || !begin || !end || !strides) return PartialShape{};
  const Masks masks(context.node().attrs);
  const int64_t unknown = (begin->unknown & (~masks.begin | masks.shrink_axis)) |
                          (end->unknown & ~(masks.end | masks.shrink_axis)) | strides->unknown;
  TROUPE_ASSIGN(const Box box, resolve(context.input(0).dims(), masks, begin->values, end->values,
                                       strides->values, unknown));
  return partial(box.result);
}

Result<SliceTarget> slice_target(const KernelContext& context) {
  const auto dims = context.input(0).shape().dims();
  TROUPE_ASSIGN(const Box box, box_of(context, dims, 1));
  const Layout layout = layout_of(box, dims);
  SliceTarget target{box.result, {layout.offset, {}}};
  for (const int64_t axis : box.result_axes)
    target.layout.strides.push_back(axis < 0 ? 0 : layout.strides[static_cast<size_t>(axis)]);
  return target;
}

Result<BoxCopyArguments> check_strided_slice(KernelContext& context) {
  const Tensor& input = context.input(0);
  const auto dims = input.shape().dims();
  TROUPE_ASSIGN(const Box box, box_of(context, dims, 1));
  TROUPE_ASSIGN(const Shape shape, Shape::make(box.result, input.dtype()));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  return BoxCopyArguments{&input, output, BoxCopy(box.size, layout_of(box, dims), {0, strides_of(box.size)})};
}

Result<BoxCopyArguments> check_strided_slice_grad(KernelContext& context) {
  TROUPE_ASSIGN(const Dims dims, integer_vector(context.input(0), "shape"));
  const Tensor& gradient = context.input(4);
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, gradient.dtype()));
  TROUPE_ASSIGN(const Box box, box_of(context, dims, 1));
  if (!std::ranges::equal(box.result, gradient.shape().dims()))
    return invalid_argument("dy has shape " + gradient.shape().text() + ", but the slice has shape " +
                            text_of(box.result));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  return BoxCopyArguments{&gradient, output,
                          BoxCopy(box.size, {0, strides_of(box.size)}, layout_of(box, dims)), true};
}

void add_strided_slice_ops(OpLibrary& library) {
  library.op(
      with_masks(OpDefBuilder("StridedSlice"))
          .input("input: T")
          .host_input("begin: Index")
          .host_input("end: Index")
          .host_input("strides: Index")
          .output("output: T")
          .attr("T: type")
          .attr("Index: {int32, int64}")
          .constructor("strided_slice(input, begin, end, strides, begin_mask, end_mask, ellipsis_mask, "
                       "new_axis_mask, shrink_axis_mask)")
          .shape(strided_slice_shape)
          .gradient(strided_slice_gradient));
  library.kernel(cpu_kernel("StridedSlice", check_strided_slice, compute_box_copy));
  library.op(with_masks(OpDefBuilder("StridedSliceGrad"))
                 .host_input("shape: Index")
                 .host_input("begin: Index")
                 .host_input("end: Index")
                 .host_input("strides: Index")
                 .input("dy: T")
                 .output("output: T")
                 .attr("T: type")
                 .attr("Index: {int32, int64}")
                 .shape(strided_slice_grad_shape)
                 .gradient(strided_slice_grad_gradient));
  library.kernel(cpu_kernel("StridedSliceGrad", check_strided_slice_grad, compute_box_copy));
}

}  // namespace troupe
