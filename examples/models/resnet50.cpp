#include <string>

#include "convnets.h"

namespace models {
namespace {

namespace nn = troupe::nn;

struct Conv {
  int64_t filters, kernel = 1, strides = 1;
  const char* activation = "relu";
};

/// A convolution without bias, normalised by batches.
Output conv(const Network& network, Output x, const Conv& conv) {
  x = nn::conv2d(network, x,
                 {.filters = conv.filters,
                  .kernel = conv.kernel,
                  .strides = conv.strides,
                  .padding = "EXPLICIT",
                  .pad = conv.kernel / 2,
                  .bias = false,
                  .init = nn::he_normal});
  return nn::batch_norm(network, x, {.decay = 0.9, .epsilon = 1e-5, .activation = conv.activation});
}

/// A residual block: 1 x 1, 3 x 3 and 1 x 1 convolutions beside a shortcut.
Output bottleneck(const Network& network, Output x, int64_t width, int64_t strides, bool project) {
  const Output shortcut = project ? conv(network, x, {4 * width, 1, strides, "linear"}) : x;
  Output y = conv(network, x, {width});
  y = conv(network, y, {width, 3, strides});
  y = conv(network, y, {4 * width, 1, 1, "linear"});
  return relu(network.scope(), add(network.scope(), y, shortcut));
}

}  // namespace

Output resnet50(const Network& network, Output images, int64_t classes) {
  Output x = conv(network, images, {64, 7, 2});
  x = nn::max_pool2d(network, x, {.window = 3, .strides = 2, .padding = "SAME"});
  constexpr int blocks[] = {3, 4, 6, 3};
  for (int stage = 0; stage < 4; ++stage)
    for (int block = 0; block < blocks[stage]; ++block)
      x = bottleneck(network.at("stage" + std::to_string(stage + 1) + "_block" + std::to_string(block + 1)),
                     x, int64_t{64} << stage, stage > 0 && block == 0 ? 2 : 1, block == 0);
  return nn::dense(network, nn::global_avg_pool2d(network, x), {.units = classes});
}

}  // namespace models
