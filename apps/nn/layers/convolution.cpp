#include <algorithm>

#include "apps/nn/layers.h"
#include "apps/nn/layers/images.h"
#include "kernels/constructors.h"

namespace troupe::nn {
namespace {

using Numbers = std::vector<int64_t>;

/// A number for each dimension of images: 1 for batch and channels.
Numbers of_images(const Pair& pair) { return {1, pair.height, pair.width, 1}; }

Numbers explicit_paddings(const std::string& padding, const Pair& pad) {
  if (padding != "EXPLICIT" && (pad.height != 0 || pad.width != 0))
    throw Error(
        invalid_argument("conv2d: pad is for padding = \"EXPLICIT\", but padding is \"" + padding + '"'));
  if (padding != "EXPLICIT") return {};
  return {0, 0, pad.height, pad.height, pad.width, pad.width, 0, 0};
}

void require_positive(const Layer& layer, const std::string& option, const Pair& pair) {
  layer.require_positive(option, std::min(pair.height, pair.width));
}

Output finished(const Layer& layer, Output y, int64_t channels, bool bias, const std::string& activation) {
  if (bias) y = layer.with_bias(y, channels);
  return layer.activated(y, activation);
}

/// The height and the width of the result of a transposed convolution. If those of the input are not known, nodes compute them.
Output transposed_size(const Layer& layer, Output x, const Conv2dTranspose& options) {
  const Scope& scope = layer.scope();
  const auto beyond = [&](int64_t kernel, int64_t stride) {
    return options.padding == "VALID" ? std::max<int64_t>(kernel - stride, 0) : 0;
  };
  const auto [height, width] = options.strides;
  const int64_t below = beyond(options.kernel.height, height), right = beyond(options.kernel.width, width);
  const auto pair = [&](int64_t a, int64_t b) {
    return scope.constant(Tensor::vector<int32_t>({static_cast<int32_t>(a), static_cast<int32_t>(b)}));
  };
  const PartialShape& known = scope.shape(x);
  if (known[1] != unknown_dim && known[2] != unknown_dim)
    return pair(known[1] * height + below, known[2] * width + right);
  return add(scope, mul(scope, slice(scope, shape(scope, x), {1}, {2}), pair(height, width)),
             pair(below, right));
}

Output transposed_shape(const Layer& layer, Output x, const Conv2dTranspose& options) {
  const Scope& scope = layer.scope();
  const Output filters = scope.constant(Tensor::vector<int32_t>({static_cast<int32_t>(options.filters)}));
  return concat(scope, {slice(scope, shape(scope, x), {0}, {1}), transposed_size(layer, x, options), filters},
                0);
}

}  // namespace

Output conv2d(const Network& network, Output x, const Conv2d& options) {
  const Layer layer(network, "conv2d");
  layer.require_rank(x, 4);
  layer.require_positive("filters", options.filters);
  layer.require_positive("groups", options.groups);
  require_positive(layer, "kernel", options.kernel);
  const int64_t channels = layer.size_of(x, -1);
  if (channels != unknown_dim && channels % options.groups != 0)
    layer.fail("groups is " + std::to_string(options.groups) + "; it must divide the " +
               std::to_string(channels) + " channels of the input");
  const Output weights =
      layer.weight("weights",
                   {options.kernel.height, options.kernel.width,
                    channels == unknown_dim ? channels : channels / options.groups, options.filters},
                   layer.scope().dtype(x), options.init);
  const Output y =
      troupe::conv2d(layer.scope(), x, weights, of_images(options.strides), options.padding, "NHWC",
                     of_images(options.dilations), explicit_paddings(options.padding, options.pad));
  return finished(layer, with_elements(layer, x, y, "kernel", options.kernel), options.filters, options.bias,
                  options.activation);
}

Output depthwise_conv2d(const Network& network, Output x, const DepthwiseConv2d& options) {
  const Layer layer(network, "depthwise_conv2d");
  layer.require_rank(x, 4);
  layer.require_positive("multiplier", options.multiplier);
  require_positive(layer, "kernel", options.kernel);
  const int64_t channels = layer.size_of(x, -1);
  const Output weights =
      layer.weight("weights", {options.kernel.height, options.kernel.width, channels, options.multiplier},
                   layer.scope().dtype(x), options.init);
  const Output y = troupe::depthwise_conv2d(layer.scope(), x, weights, of_images(options.strides),
                                            options.padding, "NHWC", of_images(options.dilations));
  return finished(layer, with_elements(layer, x, y, "kernel", options.kernel),
                  channels == unknown_dim ? channels : channels * options.multiplier, options.bias,
                  options.activation);
}

Output conv2d_transpose(const Network& network, Output x, const Conv2dTranspose& options) {
  const Layer layer(network, "conv2d_transpose");
  layer.require_rank(x, 4);
  layer.require_positive("filters", options.filters);
  require_positive(layer, "kernel", options.kernel);
  require_positive(layer, "strides", options.strides);
  const Output weights = layer.weight(
      "weights", {options.kernel.height, options.kernel.width, options.filters, layer.size_of(x, -1)},
      layer.scope().dtype(x), options.init);
  const Output y =
      layer.scope().add_one("Conv2DBackpropInput", {transposed_shape(layer, x, options), weights, x},
                            {{"strides", of_images(options.strides)}, {"padding", options.padding}});
  return finished(layer, y, options.filters, options.bias, options.activation);
}

}  // namespace troupe::nn
