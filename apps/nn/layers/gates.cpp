#include "apps/nn/layers.h"
#include "kernels/constructors.h"

namespace troupe::nn {

Output glu(const Network& network, Output x, const Glu& options) {
  const Layer layer(network, "glu");
  const int64_t size = layer.size_of(x, -1);
  if (size == unknown_dim) return identity(layer.scope(), x);  // in Mode::Check: only the rank is known
  if (size % 2 != 0)
    layer.fail("the input has " + std::to_string(size) + " features; their number must be even");
  const auto halves = split(layer.scope(), x, 2, -1);
  return mul(layer.scope(), halves[0], layer.activated(halves[1], options.activation));
}

Output prelu(const Network& network, Output x, const Prelu& options) {
  const Layer layer(network, "prelu");
  const Scope& scope = layer.scope();
  const Output slope =
      layer.weight("slope", {layer.size_of(x, -1)}, scope.dtype(x), all_equal(options.slope));
  return add(scope, maximum(scope, x, 0), mul(scope, slope, minimum(scope, x, 0)));
}

}  // namespace troupe::nn
