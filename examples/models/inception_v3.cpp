#include "convnets.h"

namespace models {
namespace {

namespace nn = troupe::nn;

/// A convolution without bias, normalised by batches without scale.
Output conv(const Network& network, Output x, int64_t filters, nn::Pair kernel, int64_t strides = 1,
            const char* padding = "SAME") {
  x = nn::conv2d(network, x,
                 {.filters = filters,
                  .kernel = kernel,
                  .strides = strides,
                  .padding = padding,
                  .bias = false,
                  .init = nn::he_normal});
  return nn::batch_norm(network, x, {.decay = 0.9997, .scale = false, .activation = "relu"});
}

Output average(const Network& network, Output x) {
  return nn::avg_pool2d(network, x, {.window = 3, .strides = 1, .padding = "SAME"});
}
Output halved(const Network& network, Output x) {
  return nn::max_pool2d(network, x, {.window = 3, .strides = 2});
}
Output joined(const Network& network, std::vector<Output> branches) {
  return concat(network.scope(), std::move(branches), 3);
}

/// 35 x 35 (figure 5 of the paper).
Output block_a(const Network& n, Output x, int64_t pooled) {
  const Output five = conv(n, conv(n, x, 48, 1), 64, 5);
  const Output twice_three = conv(n, conv(n, conv(n, x, 64, 1), 96, 3), 96, 3);
  return joined(n, {conv(n, x, 64, 1), five, twice_three, conv(n, average(n, x), pooled, 1)});
}

/// From 35 x 35 to 17 x 17.
Output reduction_a(const Network& n, Output x) {
  const Output twice_three = conv(n, conv(n, conv(n, x, 64, 1), 96, 3), 96, 3, 2, "VALID");
  return joined(n, {conv(n, x, 384, 3, 2, "VALID"), twice_three, halved(n, x)});
}

/// 17 x 17 (figure 6): 7 x 7 convolutions as 1 x 7 and 7 x 1.
Output block_b(const Network& n, Output x, int64_t width) {
  const nn::Pair across{1, 7}, down{7, 1};
  const Output seven = conv(n, conv(n, conv(n, x, width, 1), width, across), 192, down);
  Output twice_seven = conv(n, conv(n, conv(n, x, width, 1), width, down), width, across);
  twice_seven = conv(n, conv(n, twice_seven, width, down), 192, across);
  return joined(n, {conv(n, x, 192, 1), seven, twice_seven, conv(n, average(n, x), 192, 1)});
}

/// From 17 x 17 to 8 x 8.
Output reduction_b(const Network& n, Output x) {
  const Output three = conv(n, conv(n, x, 192, 1), 320, 3, 2, "VALID");
  Output seven = conv(n, conv(n, conv(n, x, 192, 1), 192, {1, 7}), 192, {7, 1});
  seven = conv(n, seven, 192, 3, 2, "VALID");
  return joined(n, {three, seven, halved(n, x)});
}

/// 8 x 8 (figure 7): the filters spread.
Output block_c(const Network& n, Output x) {
  const nn::Pair across{1, 3}, down{3, 1};
  const Output three = conv(n, x, 384, 1);
  const Output twice_three = conv(n, conv(n, x, 448, 1), 384, 3);
  return joined(n, {conv(n, x, 320, 1), conv(n, three, 384, across), conv(n, three, 384, down),
                    conv(n, twice_three, 384, across), conv(n, twice_three, 384, down),
                    conv(n, average(n, x), 192, 1)});
}

Output auxiliary_head(const Network& network, Output x, int64_t classes) {
  x = nn::avg_pool2d(network, x, {.window = 5, .strides = 3});
  x = conv(network, conv(network, x, 128, 1), 768, 5);
  return nn::dense(network, nn::global_avg_pool2d(network, x), {.units = classes});
}

}  // namespace

Inception inception_v3(const Network& network, Output images, const InceptionOptions& options) {
  Output x = conv(network, images, 32, 3, 2, "VALID");
  x = conv(network, conv(network, x, 32, 3, 1, "VALID"), 64, 3);
  x = conv(network, conv(network, halved(network, x), 80, 1, 1, "VALID"), 192, 3, 1, "VALID");
  x = halved(network, x);
  for (const int64_t pooled : {32, 64, 64}) x = block_a(network, x, pooled);
  x = reduction_a(network, x);
  for (const int64_t width : {128, 160, 160, 192}) x = block_b(network, x, width);
  std::optional<Output> auxiliary;
  if (options.auxiliary) auxiliary = auxiliary_head(network.at("auxiliary"), x, options.classes);
  x = reduction_b(network, x);
  for (int i = 0; i < 2; ++i) x = block_c(network, x);
  x = nn::dropout(network, nn::global_avg_pool2d(network, x), {.rate = options.dropout});
  return {nn::dense(network, x, {.units = options.classes}), auxiliary};
}

}  // namespace models
