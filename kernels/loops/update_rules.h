// Update rules of variables, element by element over arrays; assign.cpp and training_ops.cpp use them. Vector code (Highway)
// for float and double. An element is computed the same way wherever it is in the array, so any split into ranges gives the
// same bits. Pure functions; any thread may call them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace troupe {

/// The rules; the formulas are those of features.md, section Q. v, a, b and c are the state, with new values on the left; g is
/// the gradient, or the value that is added. shrink(x, y) moves x towards zero by y; the result is zero if that passes zero.
enum class Rule : uint8_t {
  Add,              ///< v += g
  Subtract,         ///< v -= g
  GradientDescent,  ///< v -= rate g
  Momentum,         ///< a = momentum a + g; v -= rate a
  Nesterov,         ///< a = momentum a + g; v -= rate g + rate momentum a
  KerasMomentum,    ///< a = momentum a - rate g; v += a
  KerasNesterov,    ///< a = momentum a - rate g; v += momentum a - rate g
  Adagrad,          ///< a += g^2, if slots are updated; v -= rate g / (sqrt(a) + epsilon)
  Adam,          ///< a += (1 - beta1) (g - a); b += (1 - beta2) (g^2 - b); v -= rate a / (sqrt(b) + epsilon)
  NesterovAdam,  ///< a, b as Adam's; v -= rate (beta1 a + (1 - beta1) g) / (sqrt(b) + epsilon)
  AmsGrad,       ///< a, b as Adam's; c = max(b, c); v -= rate a / (sqrt(c) + epsilon)
  AdaMax,        ///< a += (1 - beta1) (g - a); b = max(beta2 b, |g|); v -= rate a / (b + epsilon)
  Lion,          ///< v -= rate sign(beta1 a + (1 - beta1) g); a += (1 - beta2) (g - a)
  AddSign,       ///< a += (1 - beta1) (g - a); v -= rate (base + decay sign(a) sign(g)) g
  PowerSign,     ///< a += (1 - beta1) (g - a); v -= rate exp(base decay sign(a) sign(g)) g
  Lars,  ///< a = momentum a + g + l2 v; v -= rate a; the rate includes the trust ratio (trust_ratio.h)
  /// a, b as Adam's; v -= rate (base a / (sqrt(b) + epsilon) + l2 v). The rate includes the trust ratio, base and epsilon the bias
  /// correction.
  Lamb,
  RmsProp,  ///< a += (1 - decay) (g^2 - a); b = momentum b + rate g / sqrt(a + epsilon); v -= b
  /// a += (1 - decay) (g - a); b += (1 - decay) (g^2 - b); c = momentum c + rate g / sqrt(b - a^2 + epsilon); v -= c
  CenteredRmsProp,
  /// a = decay a + (1 - decay) g^2; u = sqrt(b + epsilon) / sqrt(a + epsilon) g; b = decay b + (1 - decay) u^2; v -= rate u
  Adadelta,
  /// a' = a + g^2; b += g + 2 shrinkage v - (a'^power - a^power) / rate v; v = -shrink(b, l1) / (a'^power / rate + 2 l2).
  /// With linear_by_rate, b is stored multiplied by the rate.
  Ftrl,
  ProximalGradientDescent,  ///< v = shrink(v - rate g, rate l1) / (1 + rate l2)
  ProximalAdagrad,          ///< a += g^2; r = rate / sqrt(a); v = shrink(v - r g, r l1) / (1 + r l2)
  AdagradDa,                ///< a += g; b += g^2; v = -rate shrink(a, l1) / (rate l2 + sqrt(b))
};

/// The scalars of a rule; a rule ignores the scalars that its formula does not use. The rates of Adam and AdaMax include the
/// bias correction; l1 and l2 of AdagradDa include the number of steps; power of Ftrl is the negative of the learning rate
/// power.
template <class T>
struct RuleScalars {
  T rate = 0, momentum = 0, decay = 0, base = 0, beta1 = 0, beta2 = 0, epsilon = 0, l1 = 0, l2 = 0,
    shrinkage = 0, power = 0;
  bool update_slots = true, linear_by_rate = false;
};

/// The maximum number of arrays in the state of a rule.
inline constexpr size_t max_states = 4;

/// Arrays of equal length: v, a, b, c before and after the update (which may be the same memory), and g.
template <class T>
struct RuleArrays {
  const T* before[max_states] = {};
  T* after[max_states] = {};
  const T* gradient = nullptr;
};

/// Applies the rule to elements [begin, end).
void apply_rule(Rule rule, const RuleScalars<float>& scalars, const RuleArrays<float>& arrays, size_t begin,
                size_t end);
void apply_rule(Rule rule, const RuleScalars<double>& scalars, const RuleArrays<double>& arrays, size_t begin,
                size_t end);

}  // namespace troupe
