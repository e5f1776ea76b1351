// Update rules of variables, elementwise over arrays: what assign.cpp and training_ops.cpp compute with.
// Vector code (Highway), float and double; every element is computed alike wherever it stands, so any split
// into ranges gives the same bits. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace troupe {

/// v, a, b, c: the state, new on the left; g: the gradient, or what is added. Formulas of features.md, section
/// Q. shrink(x, y) is x moved towards zero by y, and zero where that is beyond it.
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
  AdaMax,        ///< a += (1 - beta1) (g - a); b = max(beta2 b, |g|); v -= rate a / (b + epsilon)
  RmsProp,       ///< a += (1 - decay) (g^2 - a); b = momentum b + rate g / sqrt(a + epsilon); v -= b
  CenteredRmsProp,  ///< a += (1 - decay) (g - a); b += (1 - decay) (g^2 - b); c = momentum c + rate g / sqrt(b - a^2 + epsilon);
  ///< v -= c
  Adadelta,  ///< a = decay a + (1 - decay) g^2; u = sqrt(b + epsilon) / sqrt(a + epsilon) g; b = decay b + (1 - decay) u^2;
             ///< v -= rate u
  Ftrl,  ///< a' = a + g^2; b += g + 2 shrinkage v - (a'^power - a^power) / rate v; v = -shrink(b, l1) / (a'^power / rate + 2 l2);
         ///< linear_by_rate: b is kept times the rate
  ProximalGradientDescent,  ///< v = shrink(v - rate g, rate l1) / (1 + rate l2)
  ProximalAdagrad,          ///< a += g^2; r = rate / sqrt(a); v = shrink(v - r g, r l1) / (1 + r l2)
  AdagradDa,                ///< a += g; b += g^2; v = -rate shrink(a, l1) / (rate l2 + sqrt(b))
};

/// The scalars of a rule; those it does not name are ignored. The rates of Adam and AdaMax include the bias correction,
/// AdagradDa's l1 and l2 the number of steps. Ftrl's power is the learning rate's, negated.
template <class T>
struct RuleScalars {
  T rate = 0, momentum = 0, decay = 0, beta1 = 0, beta2 = 0, epsilon = 0, l1 = 0, l2 = 0, shrinkage = 0,
    power = 0;
  bool update_slots = true, linear_by_rate = false;
};

/// How many arrays the state of a rule has at most.
inline constexpr size_t max_states = 4;

/// Arrays of equal length: v, a, b, c before and after (which may be the same memory), and g.
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
