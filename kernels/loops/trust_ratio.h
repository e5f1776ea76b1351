// The trust ratio, by which the rules Lars and Lamb (update_rules.h) multiply the rate: the norm of a variable in proportion to
// that of its update. It depends on all elements of a variable, so their squares are summed before the rule is applied. CPUs and
// GPUs share these functions. Pure functions; any thread may call them.
#pragma once

#include <cmath>

#include "kernels/gpu/any.h"
#include "kernels/loops/update_rules.h"

namespace troupe {

constexpr bool has_trust_ratio(Rule rule) { return rule == Rule::Lars || rule == Rule::Lamb; }

/// Sums of the squares of the elements of a variable, and of what its norm is compared with: the gradient of Lars, the update of
/// Lamb.
struct SquareSums {
  double variable = 0, update = 0;

  TROUPE_ANY friend SquareSums operator+(const SquareSums& x, const SquareSums& y) {
    return {x.variable + y.variable, x.update + y.update};
  }
};

/// Returns the squares of one element: v, a and b are the state before the update, g is the gradient.
template <class W>
TROUPE_ANY SquareSums squares_of(Rule rule, const RuleScalars<W>& k, W v, W a, W b, W g) {
  W update = g;
  if (rule == Rule::Lamb) {
    a += (1 - k.beta1) * (g - a);
    b += (1 - k.beta2) * (g * g - b);
    update = k.base * a / (std::sqrt(b) + k.epsilon) + k.l2 * v;
  }
  return {static_cast<double>(v) * static_cast<double>(v),
          static_cast<double>(update) * static_cast<double>(update)};
}

/// Returns the trust ratio; 1 if one of the norms is 0.
template <class W>
TROUPE_ANY W trust_ratio(Rule rule, const RuleScalars<W>& k, const SquareSums& sums) {
  const auto variable = static_cast<W>(std::sqrt(sums.variable)),
             update = static_cast<W>(std::sqrt(sums.update));
  if (!(variable > 0) || !(update > 0)) return W(1);
  return rule == Rule::Lamb ? variable / update : k.base * variable / (update + k.l2 * variable + k.epsilon);
}

}  // namespace troupe
