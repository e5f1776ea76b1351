// Max pooling that says where the greatest elements stand: images of rank 4, NHWC.
//   MaxPoolWithArgmax(input)                        output: the greatest element of each window; argmax: its index
//   MaxPoolGradWithArgmax(input, grad, argmax)      of the input's shape: sums of the elements of grad, each at its index in argmax
//   MaxPoolGradGradWithArgmax(input, grad, argmax)  of the pooled shape: the elements of grad, of the input's shape, at the
// indices in argmax An index counts the elements of one image, (row * width + column) * channels + channel, or with
// include_batch_in_index those of the whole input. Of equals the first is found; a NaN only where it comes first in its window.
// InvalidArgument for an index outside its image. half and bfloat16 are summed in float. Source:
// tensorflow/core/kernels/maxpooling_op.cc.
#include "kernels/ops/nn/max_pool_argmax.h"

#include "graph/build/gradients.h"
#include "kernels/core/arguments.h"
#include "kernels/loops/arithmetic.h"
#include "kernels/loops/strided_copy.h"
#include "kernels/ops/nn/max_pool.h"

namespace troupe {
namespace {

bool counts_whole(const Node& node) { return node.attrs.get<bool>("include_batch_in_index"); }

// ---- MaxPoolWithArgmax

template <class T>
void find_all(Pool& pool, const ArgmaxArguments& arguments, const Tensor& input, Tensor& output) {
  const PoolParts parts(arguments.pooling, SIZE_MAX);
  const size_t length = parts.columns() * parts.pixel();
  const T* const x = input.as<T>().data();
  T* const best = output.write<T>().data();
  const auto write = [&]<class Index>(std::type_identity<Index>) {
    Index* const at = arguments.argmax.write<Index>().data();
    for_pooled_rows(pool, parts, 2 * input.bytes(), [&](const PoolParts::Part& part, size_t row) {
      std::vector<int64_t> found(length);
      const size_t first = part.output + row * length;
      find_greatest(parts, part, row, x, best + first, found.data());
      const size_t image = part.input / arguments.indices.size();
      for (size_t i = 0; i < length; ++i)
        at[first + i] = static_cast<Index>(arguments.indices.index(found[i], image));
    });
  };
  with_type(TypeList<int32_t, int64_t>{}, arguments.argmax.dtype(), write);
}

Status compute_argmax(const ArgmaxArguments& arguments, DeviceContext& device) {
  if (arguments.output.elements() == 0) return {};
  TROUPE_ASSIGN(const Tensor input,
                converted(device, arguments.input, compute_dtype(arguments.input.dtype())));
  return compute_wide(device, arguments.output, [&](Tensor& output) {
    with_type(WideRealTypes{}, output.dtype(),
              [&]<class T>(std::type_identity<T>) { find_all<T>(device.pool(), arguments, input, output); });
  });
}

// ---- The gradients

/// Calls use(place in the pooled tensor, place in the input) for each index of an image; both count whole tensors.
template <class Use>
Status for_indices(const ArgmaxGradArguments& arguments, std::span<const int64_t> indices, size_t image,
                   const Use& use) {
  const size_t count = indices.size() / static_cast<size_t>(arguments.pooling.batch);
  for (size_t i = image * count; i < (image + 1) * count; ++i) {
    const int64_t place = arguments.indices.place(indices[i], image);
    if (place < 0)
      return invalid_argument(element_name("argmax", arguments.argmax.shape(), static_cast<int64_t>(i)) +
                              " = " + std::to_string(indices[i]) +
                              " is not the index of an element of image " + std::to_string(image));
    use(i, static_cast<size_t>(place));
  }
  return {};
}

template <bool Second, class T>
Status route(Pool& pool, const ArgmaxGradArguments& arguments, const Tensor& gradient, Tensor& output) {
  const Dims indices = integers(arguments.argmax);
  const auto images = static_cast<size_t>(arguments.pooling.batch);
  const T* const from = gradient.as<T>().data();
  T* const to = output.write<T>().data();
  std::vector<Status> failures(images);
  parallel_rows(pool, images, 4 * output.bytes() / images, [&](size_t begin, size_t end) {
    for (size_t image = begin; image < end; ++image)
      failures[image] = for_indices(arguments, indices, image, [&](size_t pooled, size_t place) {
        if constexpr (Second)
          to[pooled] = from[place];
        else
          to[place] = Add::apply(to[place], from[pooled]);
      });
  });
  for (const Status& failure : failures) TROUPE_RETURN_IF_FAILED(failure);
  return {};
}

template <bool Second>
Status compute_argmax_grad(const ArgmaxGradArguments& arguments, DeviceContext& device) {
  if (arguments.output.elements() == 0) return {};
  const DType dtype = compute_dtype(arguments.output.dtype());
  TROUPE_ASSIGN(const Tensor gradient, converted(device, arguments.gradient, dtype));
  Status status;
  TROUPE_RETURN_IF_FAILED(compute_wide(device, arguments.output, [&](Tensor& output) {
    if (!Second) fill(device.pool(), output);
    with_type(WideRealTypes{}, dtype, [&]<class T>(std::type_identity<T>) {
      status = route<Second, T>(device.pool(), arguments, gradient, output);
    });
  }));
  return status;
}

// ---- Shapes and gradients

Status argmax_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(pooling_shape(context, false));
  const PartialShape input = context.input(0);
  TROUPE_ASSIGN(const auto lists, pooling_lists(context, 1));
  context.set_output(1, PartialShape::of_rank(4));
  if (!input.known_rank() || !lists) return {};
  TROUPE_ASSIGN(const Pooling pooling,
                pooling_of(context.node(), input.dims(), lists->ksize, lists->strides));
  context.set_output(1, partial(pooling.output));
  return {};
}

template <size_t Like>
Status argmax_grad_shape(ShapeContext& context) {
  for (size_t i = 0; i < 3; ++i) TROUPE_RETURN_IF_FAILED(context.with_rank(i, 4).status());
  TROUPE_ASSIGN(PartialShape shape, context.with_rank(Like, 4));
  context.set_output(0, std::move(shape));
  return {};
}

Output routed(const GradientContext& context, const char* name, Output argmax) {
  Attributes attrs;
  for (const char* attr : {"ksize", "strides", "padding", "include_batch_in_index"})
    attrs.set(attr, *context.node().attrs.find(attr));
  return context.scope().add_one(name, {context.input(0), context.gradient(), argmax}, attrs);
}

void argmax_gradient(GradientContext& context) {
  context.set(0, routed(context, "MaxPoolGradWithArgmax", context.output(1)));
}

template <bool Second>
void argmax_grad_gradient(GradientContext& context) {
  const char* const name = Second ? "MaxPoolGradWithArgmax" : "MaxPoolGradGradWithArgmax";
  const Output back = routed(context, name, context.input(2));
  context.set(0, context.scope().add_one("ZerosLike", {context.input(0)}));
  context.set(1, back);
}

OpDefBuilder windows(const char* name) {
  return OpDefBuilder(name)
      .attr("ksize: list(int) >= 4")
      .attr("strides: list(int) >= 4")
      .attr("padding: {'SAME', 'VALID'}")
      .attr("include_batch_in_index: bool = false");
}

OpDefBuilder gradient_op(const char* name) {
  return windows(name)
      .input("input: T")
      .input("grad: T")
      .input("argmax: Targmax")
      .output("output: T")
      .attr("Targmax: {int32, int64}")
      .attr("T: realnumbertype");
}

/// grad must have these dimensions of the pooling; the output gets the shape of input `like`.
Result<ArgmaxGradArguments> check_gradient(KernelContext& context, const Dims Pooling::*of_gradient,
                                           size_t like) {
  TROUPE_ASSIGN(const PoolingLists lists, pooling_lists(context, 3));
  TROUPE_ASSIGN(Pooling pooling,
                pooling_of(context.node(), context.input(0).shape().dims(), lists.ksize, lists.strides));
  const Tensor &gradient = context.input(1), &argmax = context.input(2);
  TROUPE_RETURN_IF_FAILED(check_dims(argmax, "argmax", pooling.output));
  TROUPE_RETURN_IF_FAILED(check_dims(gradient, "grad", pooling.*of_gradient));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, context.input(like).shape()));
  const ImageIndices indices(pooling, counts_whole(context.node()));
  return ArgmaxGradArguments{gradient, argmax, *output, std::move(pooling), indices};
}

}  // namespace

Result<ArgmaxArguments> check_argmax(KernelContext& context) {
  const Tensor& input = context.input(0);
  TROUPE_ASSIGN(const PoolingLists lists, pooling_lists(context, 1));
  TROUPE_ASSIGN(Pooling pooling,
                pooling_of(context.node(), input.shape().dims(), lists.ksize, lists.strides));
  TROUPE_ASSIGN(const Shape shape, Shape::make(pooling.output, DType::Int64));
  const bool whole = counts_whole(context.node());
  const auto indices =
      static_cast<int64_t>(pooling.inputs()) * pooling.channels * (whole ? pooling.batch : 1);
  if (context.node().output_types[1].dtype == DType::Int32 && indices > int64_t{INT32_MAX} + 1)
    return invalid_argument("an index into " + input.signature() + " does not fit int32");
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  TROUPE_ASSIGN(Tensor* const argmax, context.output(1, shape));
  const ImageIndices numbers(pooling, whole);
  return ArgmaxArguments{input, *output, *argmax, std::move(pooling), numbers};
}

Result<ArgmaxGradArguments> check_argmax_grad(KernelContext& context) {
  return check_gradient(context, &Pooling::output, 0);
}

Result<ArgmaxGradArguments> check_argmax_grad_grad(KernelContext& context) {
  return check_gradient(context, &Pooling::input, 2);
}

void add_max_pool_argmax_ops(OpLibrary& library) {
  library.op(windows("MaxPoolWithArgmax")
                 .input("input: T")
                 .output("output: T")
                 .output("argmax: Targmax")
                 .attr("Targmax: {int32, int64} = int64")
                 .attr("T: realnumbertype")
                 .constructor("max_pool_with_argmax(input, ksize, strides, padding, index_dtype: Targmax, "
                              "include_batch_in_index)")
                 .shape(argmax_shape)
                 .gradient(argmax_gradient));
  library.op(
      gradient_op("MaxPoolGradWithArgmax").shape(argmax_grad_shape<0>).gradient(argmax_grad_gradient<false>));
  library.op(gradient_op("MaxPoolGradGradWithArgmax")
                 .shape(argmax_grad_shape<2>)
                 .gradient(argmax_grad_gradient<true>));
  library.kernel(cpu_kernel("MaxPoolWithArgmax", check_argmax, compute_argmax));
  library.kernel(cpu_kernel("MaxPoolGradWithArgmax", check_argmax_grad, compute_argmax_grad<false>));
  library.kernel(cpu_kernel("MaxPoolGradGradWithArgmax", check_argmax_grad_grad, compute_argmax_grad<true>));
}

}  // namespace troupe
