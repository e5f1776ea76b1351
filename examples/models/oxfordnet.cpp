#include <vector>

#include "convnets.h"

namespace models {
namespace nn = troupe::nn;

Output oxfordnet(const Network& network, Output images, int64_t classes) {
  const std::vector<std::vector<int64_t>> stages = {{64}, {128}, {256, 256}, {512, 512}, {512, 512}};
  Output x = images;
  for (const auto& stage : stages) {
    for (const int64_t filters : stage)
      x = nn::conv2d(network, x, {.filters = filters, .kernel = 3, .activation = "relu"});
    x = nn::max_pool2d(network, x);
  }
  x = nn::flatten(network, x);
  for (int i = 0; i < 2; ++i) x = nn::dense(network, x, {.units = 4096, .activation = "relu"});
  return nn::dense(network, x, {.units = classes});
}

}  // namespace models
