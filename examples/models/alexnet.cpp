#include "convnets.h"

namespace models {
namespace nn = troupe::nn;

Output alexnet(const Network& network, Output images, int64_t classes) {
  const nn::Pool pool{.window = 3, .strides = 2};
  Output x = nn::conv2d(
      network, images,
      {.filters = 64, .kernel = 11, .strides = 4, .padding = "EXPLICIT", .pad = 2, .activation = "relu"});
  x = nn::max_pool2d(network, x, pool);
  x = nn::conv2d(network, x, {.filters = 192, .kernel = 5, .activation = "relu"});
  x = nn::max_pool2d(network, x, pool);
  for (const int64_t filters : {384, 256, 256})
    x = nn::conv2d(network, x, {.filters = filters, .kernel = 3, .activation = "relu"});
  x = nn::flatten(network, nn::max_pool2d(network, x, pool));
  for (int i = 0; i < 2; ++i) x = nn::dense(network, x, {.units = 4096, .activation = "relu"});
  return nn::dense(network, x, {.units = classes});
}

}  // namespace models
