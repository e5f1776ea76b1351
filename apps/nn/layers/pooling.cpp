#include "apps/nn/layers.h"
#include "apps/nn/layers/images.h"
#include "kernels/constructors.h"

namespace troupe::nn {
namespace {

std::vector<int64_t> window_of(const Pool& options) {
  return {1, options.window.height, options.window.width, 1};
}

std::vector<int64_t> strides_of(const Pool& options) {
  const Pair& strides = options.strides.height == 0 ? options.window : options.strides;
  return {1, strides.height, strides.width, 1};
}

}  // namespace

Output max_pool2d(const Network& network, Output x, const Pool& options) {
  const Layer layer(network, "max_pool2d");
  const Output y = max_pool(layer.scope(), x, window_of(options), strides_of(options), options.padding);
  return with_elements(layer, x, y, "window", options.window);
}

Output avg_pool2d(const Network& network, Output x, const Pool& options) {
  const Layer layer(network, "avg_pool2d");
  const Output y = avg_pool(layer.scope(), x, window_of(options), strides_of(options), options.padding);
  return with_elements(layer, x, y, "window", options.window);
}

Output global_avg_pool2d(const Network& network, Output x) {
  const Layer layer(network, "global_avg_pool2d");
  layer.require_rank(x, 4);
  return mean(layer.scope(), x, {1, 2});
}

Output global_max_pool2d(const Network& network, Output x) {
  const Layer layer(network, "global_max_pool2d");
  layer.require_rank(x, 4);
  return max(layer.scope(), x, {1, 2});
}

}  // namespace troupe::nn
