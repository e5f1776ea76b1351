#include <algorithm>

#include "apps/nn/layers.h"
#include "kernels/constructors.h"

namespace troupe::nn {

Output dense(const Network& network, Output x, const Dense& options) {
  const Layer layer(network, "dense");
  layer.require_positive("units", options.units);
  if (layer.rank_of(x) < 2)
    layer.fail("the input has shape " + layer.scope().shape(x).text() + "; its rank must be at least 2");
  const Output weights =
      layer.weight("weights", {layer.size_of(x, -1), options.units}, layer.scope().dtype(x), options.init);
  const bool matrix = layer.rank_of(x) == 2;
  Output y = matmul(layer.scope(), matrix ? x : layer.reshaped(x, x, 0, {-1, layer.size_of(x, -1)}), weights);
  if (options.bias) y = layer.with_bias(y, options.units);
  if (!matrix) y = layer.reshaped(y, x, layer.rank_of(x) - 1, {options.units});
  return layer.activated(y, options.activation);
}

Output flatten(const Network& network, Output x) {
  const Layer layer(network, "flatten");
  int64_t features = 1;
  for (size_t axis = 1; axis < layer.rank_of(x); ++axis) {
    const int64_t size = layer.scope().shape(x)[axis];
    features = size == unknown_dim || features == unknown_dim ? unknown_dim : features * size;
  }
  return layer.reshaped(x, x, 1, {features});
}

}  // namespace troupe::nn
