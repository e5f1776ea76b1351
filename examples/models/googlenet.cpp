#include "convnets.h"

namespace models {
namespace {

namespace nn = troupe::nn;

Output conv(const Network& network, Output x, int64_t filters, int64_t kernel) {
  return nn::conv2d(network, x, {.filters = filters, .kernel = kernel, .activation = "relu"});
}

// Padded as the convolutions are; the maximum of a window at the edge is that of its part inside.
Output pool(const Network& network, Output x, int64_t strides) {
  return nn::max_pool2d(network, x, {.window = 3, .strides = strides, .padding = "SAME"});
}

/// The numbers of filters of the four branches; `reduce` are those of the 1 x 1 convolutions before larger ones.
struct Filters {
  int64_t one, reduce_three, three, reduce_five, five, pooled;
};

Output inception(const Network& network, Output x, const Filters& filters) {
  return concat(network.scope(),
                {conv(network, x, filters.one, 1),
                 conv(network, conv(network, x, filters.reduce_three, 1), filters.three, 3),
                 conv(network, conv(network, x, filters.reduce_five, 1), filters.five, 5),
                 conv(network, pool(network, x, 1), filters.pooled, 1)},
                3);
}

}  // namespace

Output googlenet(const Network& network, Output images, int64_t classes) {
  Output x = nn::conv2d(
      network, images,
      {.filters = 64, .kernel = 7, .strides = 2, .padding = "EXPLICIT", .pad = 3, .activation = "relu"});
  x = conv(network, conv(network, pool(network, x, 2), 64, 1), 192, 3);
  x = pool(network, x, 2);
  for (const Filters& filters : {Filters{64, 96, 128, 16, 32, 32}, {128, 128, 192, 32, 96, 64}})
    x = inception(network, x, filters);
  x = pool(network, x, 2);
  for (const Filters& filters : {Filters{192, 96, 208, 16, 48, 64},
                                 {160, 112, 224, 24, 64, 64},
                                 {128, 128, 256, 24, 64, 64},
                                 {112, 144, 288, 32, 64, 64},
                                 {256, 160, 320, 32, 128, 128}})
    x = inception(network, x, filters);
  x = pool(network, x, 2);
  for (const Filters& filters : {Filters{256, 160, 320, 32, 128, 128}, {384, 192, 384, 48, 128, 128}})
    x = inception(network, x, filters);
  return nn::dense(network, nn::global_avg_pool2d(network, x), {.units = classes});
}

}  // namespace models
