// Convolutions and their gradients. A convolution is the sum, over the elements of a window and the input channels, of image
// times filter; the filter is not reversed.
//   Conv2D(input, filter)
//     input [batch, height, width, channels], or as data_format says; filter [height, width, in, out]. `in` divides the channels:
//     there are channels / in groups, each with out / groups outputs
//   Conv3D(input, filter)
//     the same over three spatial dimensions
//   DepthwiseConv2dNative(input, filter)
//     filter [height, width, channels, multiplier]; gives output channel c * multiplier + m
//   ...BackpropInput(input_sizes, filter, out_backprop)
//     the gradient by the input, whose shape is input_sizes
//   ...BackpropFilter(input, filter_sizes, out_backprop)
//     the gradient by the filter, whose shape is filter_sizes
//   Conv3DBackpropInput, Conv3DBackpropFilter(input, filter, out_backprop)
//     the same, which Conv3DBackpropInputV2 and Conv3DBackpropFilterV2 replaced: they take images or filters of that shape, and
//     read only the shape; channels are last; half, float, double. As in TensorFlow, they have no gradient.
// Padding is SAME, VALID or, in two dimensions, EXPLICIT. The types are float, double, half and bfloat16; Conv2D and its gradients
// have int32, too.
#include "kernels/ops/nn/convolution.h"

#include "graph/build/gradients.h"
#include "graph/build/shape_context.h"
#include "kernels/core/arguments.h"
#include "kernels/loops/strided_copy.h"

namespace troupe {
namespace {

/// The ops of a family: one for each pass, and those that take tensors instead of sizes; null: there are none.
struct Family {
  const char* names[3];
  bool depthwise;
  size_t rank;
  const char* constructor;
  const char* unsized_names[3] = {};

  const char* name(ConvolutionPass pass) const { return names[static_cast<size_t>(pass)]; }
  const char* unsized_name(ConvolutionPass pass) const { return unsized_names[static_cast<size_t>(pass)]; }
};
constexpr Family families[] = {
    {{"Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter"},
     false,
     4,
     "conv2d(input, filter, strides, padding, data_format, dilations, explicit_paddings)"},
    {{"Conv3D", "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2"},
     false,
     5,
     "conv3d(input, filter, strides, padding, data_format, dilations)",
     {nullptr, "Conv3DBackpropInput", "Conv3DBackpropFilter"}},
    {{"DepthwiseConv2dNative", "DepthwiseConv2dNativeBackpropInput", "DepthwiseConv2dNativeBackpropFilter"},
     true,
     4,
     "depthwise_conv2d(input, filter, strides, padding, data_format, dilations, explicit_paddings)"}};

/// Returns whether the node is a gradient that takes images, or a filter, instead of their sizes.
bool is_unsized(const Node& node, const Family& family) {
  return std::ranges::any_of(family.unsized_names,
                             [&](const char* name) { return name && node.type() == name; });
}

const Family& family_of(const Node& node) {
  for (const Family& family : families) {
    if (is_unsized(node, family)) return family;
    for (const char* name : family.names)
      if (node.type() == name) return family;
  }
  return families[0];
}

Result<ImageAxes> axes_of(const Node& node) {
  return is_unsized(node, family_of(node)) ? image_axes("NDHWC") : image_axes(node);
}

// ---- Sizes

/// The dimensions of the operands; -1 where they are not known yet.
struct Dimensions {
  ImageAxes axes;
  Dims images, filter;
  int64_t groups = 1;
  ShortList<WindowDimension> windows;

  int64_t channels() const { return images[axes.channel]; }
};

/// How many groups the channels form. InvalidArgument if the filter's channels do not fit the images'.
Result<int64_t> groups_of(const Dimensions& of, bool depthwise) {
  const size_t spatial = of.axes.spatial();
  const int64_t channels = of.channels(), in = of.filter[spatial], out = of.filter[spatial + 1];
  if (channels == unknown_dim || in == unknown_dim) return unknown_dim;
  const std::string sizes =
      "filter " + text_of(of.filter) + " for " + std::to_string(channels) + " input channels";
  if (depthwise) {
    if (in != channels) return invalid_argument(sizes + ": the filter must have as many channels");
    return channels;
  }
  if (in == 0 ? channels != 0 : channels % in != 0)
    return invalid_argument(sizes + ": the filter's channels must divide the input's");
  const int64_t groups = in == 0 ? 1 : channels / in;
  if (out != unknown_dim && groups != 0 && out % groups != 0)
    return invalid_argument(sizes + ": the outputs must be a multiple of the " + std::to_string(groups) +
                            " groups");
  return groups;
}

Result<Dimensions> dimensions_of(const Node& node, Dims images, Dims filter) {
  const Family& family = family_of(node);
  Dimensions result;
  TROUPE_ASSIGN(result.axes, axes_of(node));
  if (images.size() != family.rank || filter.size() != family.rank)
    return invalid_argument("input " + text_of(images) + " and filter " + text_of(filter) +
                            " must both be of rank " + std::to_string(family.rank));
  result.images = std::move(images);
  result.filter = std::move(filter);
  TROUPE_ASSIGN(result.groups, groups_of(result, family.depthwise));
  TROUPE_ASSIGN(const Dims strides,
                only_spatial_part(node.attrs.get<std::vector<int64_t>>("strides"), result.axes, "strides"));
  Dims dilations(result.axes.spatial(), 1);
  if (const AttrValue* const attr = node.attrs.find("dilations")) {
    TROUPE_ASSIGN(dilations,
                  only_spatial_part(std::get<std::vector<int64_t>>(*attr), result.axes, "dilations"));
  }
  TROUPE_ASSIGN(const Padding padding, padding_of(node, result.axes));
  const Dims window(std::span<const int64_t>(result.filter.begin(), result.axes.spatial()));
  TROUPE_ASSIGN(result.windows,
                window_dimensions(result.images, result.axes, window, strides, dilations, padding));
  return result;
}

int64_t out_channels_of(const Dimensions& of, bool depthwise) {
  const size_t spatial = of.axes.spatial();
  const int64_t last = of.filter[spatial + 1];
  if (!depthwise) return last;
  int64_t out = 0;
  const bool known = last != unknown_dim && of.channels() != unknown_dim &&
                     !__builtin_mul_overflow(last, of.channels(), &out);
  return known ? out : unknown_dim;
}

Dims output_dims(const Dimensions& of, bool depthwise) {
  return image_dims(of.axes, of.images[0], of.windows, out_channels_of(of, depthwise));
}

ConvolutionSizes sizes_of(const Dimensions& of, bool depthwise) {
  ConvolutionSizes sizes;
  sizes.batch = of.images[0];
  sizes.groups = of.groups;
  sizes.in_channels = of.channels();
  sizes.out_channels = out_channels_of(of, depthwise);
  for (const WindowDimension& window : of.windows)
    sizes.axes.push_back(
        {window.size, window.window, window.output, window.stride, window.dilation, window.pad_before});
  return sizes;
}

// ---- Shapes

Dims known_dims(const PartialShape& shape, size_t rank) {
  return shape.known_rank() ? Dims(shape.dims()) : Dims(rank, unknown_dim);
}

/// The shape that input `sizes` spells out; all inputs have the family's rank.
template <size_t sizes>
Status gradient_shape(ShapeContext& context) {
  const size_t rank = family_of(context.node()).rank;
  TROUPE_RETURN_IF_FAILED(context.with_rank(sizes, 1).status());
  TROUPE_RETURN_IF_FAILED(context.with_rank(1 - sizes, rank).status());
  TROUPE_RETURN_IF_FAILED(context.with_rank(2, rank).status());
  TROUPE_ASSIGN(auto shape, shape_from_input(context, sizes));
  TROUPE_ASSIGN(shape, merge(shape, PartialShape(std::vector<int64_t>(rank, unknown_dim))));
  context.set_output(0, std::move(shape));
  return {};
}

/// The shape of input `like`; all inputs have the family's rank.
template <size_t like>
Status unsized_gradient_shape(ShapeContext& context) {
  const size_t rank = family_of(context.node()).rank;
  for (const size_t i : {1 - like, size_t{2}}) TROUPE_RETURN_IF_FAILED(context.with_rank(i, rank).status());
  TROUPE_ASSIGN(PartialShape shape, context.with_rank(like, rank));
  context.set_output(0, std::move(shape));
  return {};
}

// ---- Computing

/// Copies images between the layouts [batch, channels, positions] and [batch, positions, channels].
void move_channels(Pool& pool, const Tensor& from, Tensor& to, int64_t batch, int64_t channels,
                   int64_t positions, bool to_last) {
  const Layout first{0, Dims{channels * positions, 1, positions}},
      last{0, Dims{channels * positions, channels, 1}};
  strided_copy(pool, Dims{batch, positions, channels}, from, to_last ? first : last, to,
               to_last ? last : first);
}

class ConvolutionCompute {
 public:
  explicit ConvolutionCompute(ConvolutionPass pass) : pass_(pass), convolution_(pass) {}

  Status operator()(const ConvolutionArguments& arguments, DeviceContext& device) const {
    if (arguments.empty) {
      fill(device.pool(), arguments.out);
      return {};
    }
    const ConvolutionSizes& sizes = arguments.sizes;
    if (arguments.channels_last)
      return convolution_.run(device, sizes, arguments.a, arguments.b, arguments.out);
    const bool forward = pass_ == ConvolutionPass::Forward, filter = pass_ == ConvolutionPass::FilterGradient;
    TROUPE_ASSIGN(const Tensor a,
                  channels_last(device, arguments.a, sizes, pass_ == ConvolutionPass::ImageGradient));
    if (filter) {
      TROUPE_ASSIGN(const Tensor b, channels_last(device, arguments.b, sizes, true));
      return convolution_.run(device, sizes, a, b, arguments.out);
    }
    TROUPE_ASSIGN(Tensor out,
                  Tensor::allocate(arguments.out.dtype(), arguments.out.shape(), device.memory()));
    TROUPE_RETURN_IF_FAILED(convolution_.run(device, sizes, a, arguments.b, out));
    const int64_t channels = forward ? sizes.out_channels : sizes.in_channels;
    move_channels(device.pool(), out, arguments.out, sizes.batch, channels,
                  out.elements() / sizes.batch / channels, false);
    return {};
  }

 private:
  static Result<Tensor> channels_last(DeviceContext& device, const Tensor& images,
                                      const ConvolutionSizes& sizes, bool outputs) {
    TROUPE_ASSIGN(Tensor result, Tensor::allocate(images.dtype(), images.shape(), device.memory()));
    const int64_t channels = outputs ? sizes.out_channels : sizes.in_channels;
    move_channels(device.pool(), images, result, sizes.batch, channels,
                  images.elements() / sizes.batch / channels, true);
    return result;
  }

  ConvolutionPass pass_;
  Convolution convolution_;
};

KernelDef convolution_kernel(const char* op, ConvolutionPass pass) {
  return kernel_on("CPU", op, [pass](const PrepareContext&) {
    return Result<std::unique_ptr<Kernel>>(make_kernel(ConvolutionCheck(pass), ConvolutionCompute(pass)));
  });
}

// ---- Gradients

/// A node of the same family and attributes for another pass.
Output other_pass(const GradientContext& context, ConvolutionPass pass, std::vector<Output> inputs) {
  Attributes attrs;
  for (const char* name :
       {"strides", "padding", "explicit_paddings", "data_format", "dilations", "use_cudnn_on_gpu"})
    if (const AttrValue* const value = context.node().attrs.find(name)) attrs.set(name, *value);
  return context.scope().add_one(family_of(context.node()).name(pass), std::move(inputs), std::move(attrs));
}

void forward_gradient(GradientContext& context) {
  const Output images = context.input(0), filter = context.input(1), gradient = context.gradient();
  context.set(0, other_pass(context, ConvolutionPass::ImageGradient,
                            {shape_of(context.scope(), images), filter, gradient}));
  context.set(1, other_pass(context, ConvolutionPass::FilterGradient,
                            {images, shape_of(context.scope(), filter), gradient}));
}

void image_gradient_gradient(GradientContext& context) {
  const Output filter = context.input(1), outputs = context.input(2), gradient = context.gradient();
  context.set(1, other_pass(context, ConvolutionPass::FilterGradient,
                            {gradient, shape_of(context.scope(), filter), outputs}));
  context.set(2, other_pass(context, ConvolutionPass::Forward, {gradient, filter}));
}

void filter_gradient_gradient(GradientContext& context) {
  const Output images = context.input(0), outputs = context.input(2), gradient = context.gradient();
  context.set(0, other_pass(context, ConvolutionPass::ImageGradient,
                            {shape_of(context.scope(), images), gradient, outputs}));
  context.set(2, other_pass(context, ConvolutionPass::Forward, {images, gradient}));
}

/// Adds a gradient that takes images, or a filter, instead of their sizes, if the family has one.
void add_unsized_gradient(OpLibrary& library, const Family& family, ConvolutionPass pass,
                          ShapeFunction shape) {
  const char* const name = family.unsized_name(pass);
  if (!name) return;
  library.op(OpDefBuilder(name)
                 .input("input: T")
                 .input("filter: T")
                 .input("out_backprop: T")
                 .output("output: T")
                 .attr("T: {half, float, double}")
                 .attr("strides: list(int) >= 5")
                 .attr("padding: {'SAME', 'VALID'}")
                 .attr("dilations: list(int) = [1, 1, 1, 1, 1]")
                 .shape(shape));
  library.kernel(convolution_kernel(name, pass));
}

}  // namespace

Result<PartialShape> convolution_shape(const Node& node, const PartialShape& images,
                                       const PartialShape& filter) {
  const Family& family = family_of(node);
  TROUPE_ASSIGN(const Dimensions dimensions,
                dimensions_of(node, known_dims(images, family.rank), known_dims(filter, family.rank)));
  return partial(output_dims(dimensions, family.depthwise));
}

Status convolution_shape(ShapeContext& context) {
  const size_t rank = family_of(context.node()).rank;
  TROUPE_ASSIGN(const auto images, context.with_rank(0, rank));
  TROUPE_ASSIGN(const auto filter, context.with_rank(1, rank));
  TROUPE_ASSIGN(auto output, convolution_shape(context.node(), images, filter));
  context.set_output(0, std::move(output));
  return {};
}

Result<ForwardConvolution> forward_convolution(const Node& node, const Shape& images, const Shape& filter,
                                               DType dtype) {
  TROUPE_ASSIGN(const Dimensions dimensions, dimensions_of(node, Dims(images.dims()), Dims(filter.dims())));
  const bool depthwise = family_of(node).depthwise;
  TROUPE_ASSIGN(Shape output, Shape::make(output_dims(dimensions, depthwise), dtype));
  const bool empty = images.elements() == 0 || filter.elements() == 0 || output.elements() == 0;
  return ForwardConvolution{std::move(output), empty ? ConvolutionSizes{} : sizes_of(dimensions, depthwise),
                            empty};
}

Result<ConvolutionArguments> ConvolutionCheck::operator()(KernelContext& context) const {
  const bool image_gradient = pass_ == ConvolutionPass::ImageGradient,
             filter_gradient = pass_ == ConvolutionPass::FilterGradient;
  Dims images(context.input(0).shape().dims()), filter(context.input(1).shape().dims());
  const bool sized = !is_unsized(context.node(), family_of(context.node()));
  if (image_gradient && sized) {
    TROUPE_ASSIGN(images, integer_vector(context.input(0), "input_sizes"));
  }
  if (filter_gradient && sized) {
    TROUPE_ASSIGN(filter, integer_vector(context.input(1), "filter_sizes"));
  }
  const DType dtype = context.node().output_types[0].dtype;
  TROUPE_ASSIGN(const Shape image_shape, Shape::make(images, dtype));
  TROUPE_ASSIGN(const Shape filter_shape, Shape::make(filter, dtype));
  TROUPE_ASSIGN(ForwardConvolution forward,
                forward_convolution(context.node(), image_shape, filter_shape, dtype));
  if (pass_ != ConvolutionPass::Forward && !(context.input(2).shape() == forward.output))
    return invalid_argument("out_backprop has shape " + context.input(2).shape().text() + "; input " +
                            image_shape.text() + " and filter " + filter_shape.text() +
                            " give outputs of shape " + forward.output.text());
  TROUPE_ASSIGN(Tensor* const out, context.output(0, image_gradient    ? image_shape
                                                     : filter_gradient ? filter_shape
                                                                       : forward.output));
  TROUPE_ASSIGN(const ImageAxes axes, axes_of(context.node()));
  const Tensor& a = context.input(image_gradient ? 2 : 0);
  const Tensor& b = context.input(filter_gradient ? 2 : 1);
  return ConvolutionArguments{a, b, *out, std::move(forward.sizes), axes.channels_last(), forward.empty};
}

void add_convolution_ops(OpLibrary& library) {
  for (const Family& family : families) {
    const bool cube = family.rank == 5;
    const auto op = [&](ConvolutionPass pass, ShapeFunction shape, GradientFunction gradient) {
      OpDefBuilder def(family.name(pass));
      def.output("output: T")
          .attr(cube ? "strides: list(int) >= 5" : "strides: list(int)")
          .attr(cube ? "padding: {'SAME', 'VALID'}" : "padding: {'SAME', 'VALID', 'EXPLICIT'}")
          .attr(cube ? "data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'" : "data_format: {'NHWC', 'NCHW'} = 'NHWC'")
          .attr(cube ? "dilations: list(int) = [1, 1, 1, 1, 1]" : "dilations: list(int) = [1, 1, 1, 1]")
          .attr(cube || family.depthwise ? "T: {half, bfloat16, float, double}"
                                         : "T: {half, bfloat16, float, double, int32}")
          .shape(shape)
          .gradient(gradient);
      if (!cube) def.attr("explicit_paddings: list(int) = []");
      if (!cube && !family.depthwise) def.attr("use_cudnn_on_gpu: bool = true");
      return def;
    };
    const std::string size_type = cube ? "input_sizes: Tshape" : "input_sizes: int32";
    auto forward = op(ConvolutionPass::Forward, convolution_shape, forward_gradient);
    library.op(forward.input("input: T").input("filter: T").constructor(family.constructor));
    auto image = op(ConvolutionPass::ImageGradient, gradient_shape<0>, image_gradient_gradient);
    if (cube) image.attr("Tshape: {int32, int64} = int32");
    library.op(image.host_input(size_type).input("filter: T").input("out_backprop: T"));
    library.op(op(ConvolutionPass::FilterGradient, gradient_shape<1>, filter_gradient_gradient)
                   .input("input: T")
                   .host_input("filter_sizes: int32")
                   .input("out_backprop: T"));
    for (const auto pass :
         {ConvolutionPass::Forward, ConvolutionPass::ImageGradient, ConvolutionPass::FilterGradient})
      library.kernel(convolution_kernel(family.name(pass), pass));
    add_unsized_gradient(library, family, ConvolutionPass::ImageGradient, unsized_gradient_shape<0>);
    add_unsized_gradient(library, family, ConvolutionPass::FilterGradient, unsized_gradient_shape<1>);
  }
}

}  // namespace troupe
