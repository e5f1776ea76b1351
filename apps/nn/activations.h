// Activations: functions of each element, which layers apply to their results. They use only the public builder and throw Error as
// it does. Public header; one thread at a time per graph.
#pragma once

#include <string_view>
#include <vector>

#include "graph/build/scope.h"

#pragma GCC visibility push(default)
namespace troupe::nn {

/// Gaussian error linear units (Hendrycks and Gimpel 2016): x times the normal distribution function of x.
Output gelu(const Scope& scope, Output x);
/// gelu() with tanh(sqrt(2 / pi) (x + 0.044715 x^3)) in place of the error function, as in GPT-2 and BERT.
Output gelu_tanh(const Scope& scope, Output x);
/// x sigmoid(x), which is also called SiLU.
Output swish(const Scope& scope, Output x);
/// x tanh(softplus(x)) (Misra 2019).
Output mish(const Scope& scope, Output x);
/// (x + 3) / 6, at least 0 and at most 1.
Output hard_sigmoid(const Scope& scope, Output x);
/// x hard_sigmoid(x) (Howard et al. 2019).
Output hard_swish(const Scope& scope, Output x);

/// A function above, under its name.
struct Activation {
  std::string_view name;
  Output (*apply)(const Scope& scope, Output x);
};
/// Returns all of them. Layers take ops of one input as activations, too (Layer::activated).
const std::vector<Activation>& activations();

}  // namespace troupe::nn
#pragma GCC visibility pop
