#include "convnets.h"

namespace models {
namespace nn = troupe::nn;

Output overfeat(const Network& network, Output images, int64_t classes) {
  Output x = nn::conv2d(
      network, images, {.filters = 96, .kernel = 11, .strides = 4, .padding = "VALID", .activation = "relu"});
  x = nn::max_pool2d(network, x);
  x = nn::conv2d(network, x, {.filters = 256, .kernel = 5, .padding = "VALID", .activation = "relu"});
  x = nn::max_pool2d(network, x);
  for (const int64_t filters : {512, 1024, 1024})
    x = nn::conv2d(network, x, {.filters = filters, .kernel = 3, .activation = "relu"});
  x = nn::flatten(network, nn::max_pool2d(network, x));
  for (const int64_t units : {3072, 4096}) x = nn::dense(network, x, {.units = units, .activation = "relu"});
  return nn::dense(network, x, {.units = classes});
}

}  // namespace models
