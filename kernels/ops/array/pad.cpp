// Tensors inside bigger ones. paddings[i] = (before, after) of dimension i, neither negative.
//   Pad(input, paddings)                      zeros around it
//   PadV2(input, paddings, constant_values)   the scalar around it
//   MirrorPad(input, paddings, mode)          the input reflected at its borders; SYMMETRIC repeats the border, REFLECT does not.
//                                             In SYMMETRIC mode a padding is at most the dimension, in REFLECT mode at most one
//                                             less
//   MirrorPadGrad(input, paddings, mode)      its gradient: each element of the smaller tensor is the sum of the elements of
//                                             input that MirrorPad copied it to
#include <algorithm>

#include "kernels/core/arguments.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/arithmetic.h"
#include "kernels/loops/rows.h"
#include "kernels/ops/array/copies.h"
#include "kernels/ops/array/mirror_pad.h"

namespace troupe {
namespace {

std::string padding_text(int64_t before, int64_t after, size_t axis) {
  return "the padding (" + std::to_string(before) + ", " + std::to_string(after) + ") of dimension " +
         std::to_string(axis);
}

/// One dimension with its padding; unknown stays unknown.
Result<int64_t> padded_dim(int64_t dim, int64_t before, int64_t after, size_t axis) {
  if (before < 0 || after < 0)
    return invalid_argument(padding_text(before, after, axis) + " must not be negative");
  int64_t padded = dim;
  if (dim == unknown_dim) return dim;
  if (__builtin_add_overflow(padded, before, &padded) || __builtin_add_overflow(padded, after, &padded))
    return invalid_argument(padding_text(before, after, axis) +
                            " is too large: the padded size does not fit int64");
  return padded;
}

/// The dimension without its padding; unknown stays unknown.
Result<int64_t> unpadded_dim(int64_t dim, int64_t before, int64_t after, size_t axis) {
  if (before < 0 || after < 0)
    return invalid_argument(padding_text(before, after, axis) + " must not be negative");
  if (dim == unknown_dim) return dim;
  if (before > dim || after > dim - before)
    return invalid_argument(padding_text(before, after, axis) + " is more than the size of the dimension, " +
                            std::to_string(dim));
  return dim - before - after;
}

/// Maps a dimension and its padding to the dimension of the result.
using DimOf = Result<int64_t> (*)(int64_t dim, int64_t before, int64_t after, size_t axis);

Result<Dims> dims_of(DimOf dim_of, std::span<const int64_t> dims, std::span<const int64_t> paddings) {
  if (paddings.size() != 2 * dims.size())
    return invalid_argument("paddings has " + std::to_string(paddings.size() / 2) + " rows, but input has " +
                            std::to_string(dims.size()) + " dimensions");
  Dims result(dims);
  for (size_t i = 0; i < dims.size(); ++i) {
    TROUPE_ASSIGN(result[i], dim_of(dims[i], paddings[2 * i], paddings[2 * i + 1], i));
  }
  return result;
}

/// What a mode allows: InvalidArgument for a padding that needs more elements than the dimension of the smaller tensor has.
Status check_mirrored(const Node& node, std::span<const int64_t> dims, std::span<const int64_t> paddings) {
  const AttrValue* const mode = node.attrs.find("mode");
  if (!mode) return {};
  const int64_t unused = std::get<std::string>(*mode) == "REFLECT" ? 1 : 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t before = paddings[2 * i], after = paddings[2 * i + 1];
    if (dims[i] != unknown_dim && std::max(before, after) > std::max<int64_t>(dims[i] - unused, 0))
      return invalid_argument(padding_text(before, after, i) +
                              " is too large to mirror a dimension of size " + std::to_string(dims[i]));
  }
  return {};
}

/// Returns the shape of the result of all four ops. Only MirrorPadGrad takes paddings away.
Result<PartialShape> padded_shape(const ShapeContext& context, DimOf dim_of) {
  TROUPE_ASSIGN(const auto paddings_shape, context.with_rank(1, 2));
  TROUPE_RETURN_IF_FAILED(merge(paddings_shape, PartialShape{unknown_dim, 2}).status());
  PartialShape input = context.input(0);
  const int64_t rows = paddings_shape[0];
  if (!input.known_rank() && rows != unknown_dim && rows <= static_cast<int64_t>(Shape::max_rank))
    input = PartialShape::of_rank(static_cast<size_t>(rows));
  if (!input.known_rank()) return PartialShape{};
  if (rows != unknown_dim && rows != static_cast<int64_t>(input.rank()))
    return invalid_argument("paddings has shape " + paddings_shape.text() + ", but input has shape " +
                            input.text() + "; there must be one row for each dimension");
  const auto paddings = context.constant_integers(1);
  if (!paddings) return PartialShape::of_rank(input.rank());
  TROUPE_ASSIGN(const Dims dims, dims_of(dim_of, input.dims(), *paddings));
  const Dims smaller = dim_of == padded_dim ? Dims(input.dims()) : dims;
  TROUPE_RETURN_IF_FAILED(check_mirrored(context.node(), smaller, *paddings));
  return partial(dims);
}

template <DimOf dim_of>
Status pad_shape(ShapeContext& context) {
  if (context.inputs() == 3) TROUPE_RETURN_IF_FAILED(context.with_rank(2, 0).status());
  TROUPE_ASSIGN(auto shape, padded_shape(context, dim_of));
  context.set_output(0, std::move(shape));
  return {};
}

Result<Dims> read_paddings(const KernelContext& context) {
  const Tensor& paddings = context.input(1);
  if (paddings.shape().rank() != 2 || paddings.shape()[1] != 2)
    return invalid_argument("paddings has shape " + paddings.shape().text() + "; it must have shape [" +
                            std::to_string(context.input(0).shape().rank()) + ",2]");
  return integers(paddings);
}

/// Where the element at position 0 of the smaller tensor lies in the bigger one, of these dimensions.
Layout inside(std::span<const int64_t> bigger, std::span<const int64_t> paddings) {
  Layout layout{0, strides_of(bigger)};
  for (size_t i = 0; i < bigger.size(); ++i) layout.offset += paddings[2 * i] * layout.strides[i];
  return layout;
}

// ---- Gradients of Pad and PadV2

/// The sum of what stands around the input.
Output background_gradient(const GradientContext& context) {
  const Scope& scope = context.scope();
  const DType dtype = scope.dtype(context.gradient());
  const Output one = scope.add_one("Cast", {integer_constant(scope, 1)}, {{"DstT", dtype}});
  const Output inside = scope.add_one("ZerosLike", {context.input(0)});
  const Output around = scope.add_one("PadV2", {inside, context.input(1), one});
  const Output flat = scope.add_one(
      "Reshape", {scope.add_one("Mul", {context.gradient(), around}), integer_constants(scope, Dims{-1})});
  return scope.add_one("Sum", {flat, integer_constant(scope, 0)});
}

void pad_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const DType dtype = scope.dtype(context.input(1));
  const Output first_column =
      scope.add_one("Slice", {context.input(1), integer_constants(scope, Dims{0, 0}, dtype),
                              integer_constants(scope, Dims{-1, 1}, dtype)});
  const Output begin = scope.add_one("Squeeze", {first_column}, {{"squeeze_dims", std::vector<int64_t>{1}}});
  context.set(0,
              scope.add_one("Slice", {context.gradient(), begin, shape_of(scope, context.input(0), dtype)}));
  if (context.node().inputs.size() == 3) context.set(2, background_gradient(context));
}

// ---- MirrorPad and MirrorPadGrad

/// Allocates the output, unless it is the input.
Result<MirrorArguments> mirror_arguments(KernelContext& context, MirrorPadding padding, const Dims& dims) {
  const Tensor& input = context.input(0);
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, input.dtype()));
  if (shape == input.shape()) {
    context.set_output(0, input);
    return MirrorArguments{input, nullptr, {}};
  }
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  return MirrorArguments{input, output, std::move(padding)};
}

/// What a mode does not copy at a border.
int64_t unused_elements(const Node& node) { return node.attrs.get<std::string>("mode") == "REFLECT" ? 1 : 0; }

void compute_mirror_pad(const MirrorArguments& arguments, DeviceContext& device) {
  if (arguments.output) mirror_pad(device.pool(), arguments.input, arguments.padding, *arguments.output);
}

/// One dimension of a tensor: `dim` rows of `inner` elements in each of the `outer` blocks.
struct Folding {
  size_t outer, dim, inner;
  size_t before, after, unused;
};

/// Adds the rows outside of the borders to those that they mirror.
template <class T>
void fold_columns(std::span<T> values, const Folding& folding, size_t block, size_t column, size_t count) {
  const size_t inner = folding.inner, last = folding.dim - folding.after - 1;
  T* const first = values.data() + block * folding.dim * inner + column;
  const auto add_row = [&](size_t to, size_t from) {
    for (size_t k = 0; k < count; ++k)
      first[to * inner + k] = T(Add::apply(static_cast<ComputeType<T>>(first[to * inner + k]),
                                           static_cast<ComputeType<T>>(first[from * inner + k])));
  };
  for (size_t j = 0; j < folding.before; ++j)
    add_row(folding.before + folding.unused + j, folding.before - 1 - j);
  for (size_t j = 0; j < folding.after; ++j) add_row(last - folding.unused - j, last + 1 + j);
}

template <class T>
void fold(Pool& pool, std::span<T> values, const Folding& folding) {
  const size_t inner = folding.inner, padding = folding.before + folding.after;
  if (padding == 0) return;
  parallel_items(pool, folding.outer * inner, 3 * sizeof(T) * padding, [&](size_t begin, size_t end) {
    while (begin < end) {
      const size_t column = begin % inner, count = std::min(inner - column, end - begin);
      fold_columns(values, folding, begin / inner, column, count);
      begin += count;
    }
  });
}

/// Folds a copy of the input, one dimension after the other, and takes what is inside.
Status compute_mirror_pad_grad(const MirrorArguments& arguments, DeviceContext& device) {
  const Tensor& input = arguments.input;
  Tensor* const output = arguments.output;
  if (!output || output->elements() == 0) return {};
  const auto dims = input.shape().dims();
  const Layout all{0, strides_of(dims)};
  TROUPE_ASSIGN(Tensor folded, Tensor::allocate(input.dtype(), input.shape(), device.memory()));
  strided_copy(device.pool(), dims, input, all, folded, all);
  const auto padding = [&](size_t side) { return static_cast<size_t>(arguments.padding.paddings[side]); };
  with_type(NumberTypes{}, input.dtype(), [&]<class T>(std::type_identity<T>) {
    for (size_t i = 0; i < dims.size(); ++i)
      fold<T>(device.pool(), folded.write<T>(),
              {count_of(dims.first(i)), static_cast<size_t>(dims[i]), count_of(dims.subspan(i + 1)),
               padding(2 * i), padding(2 * i + 1), static_cast<size_t>(arguments.padding.unused)});
  });
  const auto kept = output->shape().dims();
  strided_copy(device.pool(), kept, folded, inside(dims, arguments.padding.paddings), *output,
               {0, strides_of(kept)});
  return {};
}

void set_mirrored_gradient(GradientContext& context, const char* op) {
  context.set(0, context.scope().add_one(op, {context.gradient(), context.input(1)},
                                         {{"mode", context.attr<std::string>("mode")}}));
}
void mirror_pad_gradient(GradientContext& context) { set_mirrored_gradient(context, "MirrorPadGrad"); }
void mirror_pad_grad_gradient(GradientContext& context) { set_mirrored_gradient(context, "MirrorPad"); }

OpDefBuilder pad_op(const char* name) {
  return OpDefBuilder(name)
      .input("input: T")
      .host_input("paddings: Tpaddings")
      .output("output: T")
      .attr("T: type")
      .attr("Tpaddings: {int32, int64} = int32");
}

}  // namespace

Result<BoxCopyArguments> check_pad(KernelContext& context) {
  const Tensor& input = context.input(0);
  const auto dims = input.shape().dims();
  TROUPE_ASSIGN(const Dims paddings, read_paddings(context));
  TROUPE_ASSIGN(const Dims padded, dims_of(padded_dim, dims, paddings));
  const Tensor* const background = context.inputs() == 3 ? &context.input(2) : nullptr;
  if (background && !background->shape().is_scalar())
    return invalid_argument("constant_values of shape " + background->shape().text() + " is not a scalar");
  TROUPE_ASSIGN(const Shape shape, Shape::make(padded, input.dtype()));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  const BoxCopy box(dims, {0, strides_of(dims)}, inside(padded, paddings));
  return BoxCopyArguments{&input, output, box, true, background};
}

Result<MirrorArguments> check_mirror_pad(KernelContext& context) {
  TROUPE_ASSIGN(MirrorPadding padding, mirror_padding(context));
  const Dims padded(padding.padded.dims());
  return mirror_arguments(context, std::move(padding), padded);
}

Result<MirrorArguments> check_mirror_pad_grad(KernelContext& context) {
  TROUPE_ASSIGN(const Dims paddings, read_paddings(context));
  TROUPE_ASSIGN(const Dims dims, dims_of(unpadded_dim, context.input(0).shape().dims(), paddings));
  TROUPE_RETURN_IF_FAILED(check_mirrored(context.node(), dims, paddings));
  return mirror_arguments(context, {paddings, unused_elements(context.node()), {}}, dims);
}

Result<MirrorPadding> mirror_padding(const KernelContext& context) {
  const Tensor& input = context.input(0);
  const auto dims = input.shape().dims();
  TROUPE_ASSIGN(Dims paddings, read_paddings(context));
  TROUPE_ASSIGN(const Dims padded, dims_of(padded_dim, dims, paddings));
  TROUPE_RETURN_IF_FAILED(check_mirrored(context.node(), dims, paddings));
  TROUPE_ASSIGN(Shape shape, Shape::make(padded, input.dtype()));
  return MirrorPadding{std::move(paddings), unused_elements(context.node()), std::move(shape)};
}

void mirror_pad(Pool& pool, const Tensor& input, const MirrorPadding& padding, Tensor& output) {
  if (output.elements() == 0) return;
  const Dims& paddings = padding.paddings;
  Layout done = inside(output.shape().dims(), paddings);
  Dims dims(input.shape().dims());
  strided_copy(pool, dims, input, {0, strides_of(dims)}, output, done);
  // For one dimension after the other, the last one first, so that the first dimensions copy long runs: what is beyond the borders
  // is copied from within the output.
  for (size_t i = dims.size(); i-- > 0;) {
    const int64_t dim = dims[i], stride = done.strides[i], before = paddings[2 * i],
                  after = paddings[2 * i + 1];
    const auto copy_mirrored = [&](int64_t size, int64_t from, int64_t to) {
      Layout mirrored{done.offset + from * stride, done.strides};
      mirrored.strides[i] = -stride;
      dims[i] = size;
      strided_copy(pool, dims, output, mirrored, output, {done.offset + to * stride, done.strides});
    };
    copy_mirrored(before, before - 1 + padding.unused, -before);
    copy_mirrored(after, dim - 1 - padding.unused, dim);
    dims[i] = before + dim + after;
    done.offset -= before * stride;
  }
}

Result<PartialShape> mirror_padded_shape(const ShapeContext& context) {
  return padded_shape(context, padded_dim);
}

void add_pad_ops(OpLibrary& library) {
  library.op(
      pad_op("Pad").constructor("pad(input, paddings)").shape(pad_shape<padded_dim>).gradient(pad_gradient));
  library.op(pad_op("PadV2")
                 .host_input("constant_values: T")
                 .constructor("pad_v2(input, paddings, constant_values)")
                 .shape(pad_shape<padded_dim>)
                 .gradient(pad_gradient));
  for (const char* name : {"Pad", "PadV2"}) library.kernel(cpu_kernel(name, check_pad, compute_box_copy));
  constexpr const char* mode = "mode: {'REFLECT', 'SYMMETRIC'}";
  library.op(pad_op("MirrorPad")
                 .attr(mode)
                 .constructor("mirror_pad(input, paddings, mode)")
                 .shape(pad_shape<padded_dim>)
                 .gradient(mirror_pad_gradient));
  library.kernel(cpu_kernel("MirrorPad", check_mirror_pad, compute_mirror_pad));
  library.op(
      pad_op("MirrorPadGrad").attr(mode).shape(pad_shape<unpadded_dim>).gradient(mirror_pad_grad_gradient));
  library.kernel(cpu_kernel("MirrorPadGrad", check_mirror_pad_grad, compute_mirror_pad_grad)
                     .on("T", dtypes(NumberTypes{})));
}

}  // namespace troupe
