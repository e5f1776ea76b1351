#include "apps/nn/activations.h"

#include <cmath>
#include <numbers>

#include "kernels/constructors.h"

namespace troupe::nn {

Output gelu(const Scope& scope, Output x) {
  const Output upper = add(scope, erf(scope, mul(scope, x, std::numbers::sqrt2 / 2)), 1);
  return mul(scope, mul(scope, x, 0.5), upper);
}

Output gelu_tanh(const Scope& scope, Output x) {
  const double scale = std::sqrt(2 / std::numbers::pi);
  const Output factor = add(scope, mul(scope, square(scope, x), 0.044715 * scale), scale);
  return mul(scope, mul(scope, x, 0.5), add(scope, tanh(scope, mul(scope, x, factor)), 1));
}

Output swish(const Scope& scope, Output x) { return mul(scope, x, sigmoid(scope, x)); }

Output mish(const Scope& scope, Output x) { return mul(scope, x, tanh(scope, softplus(scope, x))); }

Output hard_sigmoid(const Scope& scope, Output x) {
  return mul(scope, relu6(scope, add(scope, x, 3)), 1.0 / 6);
}

Output hard_swish(const Scope& scope, Output x) { return mul(scope, x, hard_sigmoid(scope, x)); }

const std::vector<Activation>& activations() {
  static const std::vector<Activation> all = {
      {"gelu", gelu}, {"gelu_tanh", gelu_tanh},       {"swish", swish},
      {"mish", mish}, {"hard_sigmoid", hard_sigmoid}, {"hard_swish", hard_swish}};
  return all;
}

}  // namespace troupe::nn
