// Update rules of variables, elementwise over arrays: what assign.cpp and training_ops.cpp compute with.
// Vector code (Highway), float and double; every element is computed alike wherever it stands, so any split
// into ranges gives the same bits. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace troupe {

/// v, a, b: the state, new on the left; g: the gradient, or what is added. Formulas of features.md, section
/// Q.
enum class Rule : uint8_t {
  Add,              ///< v += g
  Subtract,         ///< v -= g
  GradientDescent,  ///< v -= rate g
  Momentum,         ///< a = momentum a + g; v -= rate a
  Nesterov,         ///< a = momentum a + g; v -= rate g + rate momentum a
  Adagrad,          ///< a += g^2; v -= rate g / sqrt(a)
  Adam,     ///< a += (1 - beta1) (g - a); b += (1 - beta2) (g^2 - b); v -= rate a / (sqrt(b) + epsilon)
  RmsProp,  ///< a += (1 - decay) (g^2 - a); b = momentum b + rate g / sqrt(a + epsilon); v -= b
};

/// The scalars of a rule; those it does not name are ignored. Adam's rate includes the bias correction.
template <class T>
struct RuleScalars {
  T rate = 0, momentum = 0, decay = 0, beta1 = 0, beta2 = 0, epsilon = 0;
};

/// Arrays of equal length: v, a, b before and after (which may be the same memory), and g.
template <class T>
struct RuleArrays {
  const T* before[3] = {};
  T* after[3] = {};
  const T* gradient = nullptr;
};

/// Applies the rule to elements [begin, end).
void apply_rule(Rule rule, const RuleScalars<float>& scalars, const RuleArrays<float>& arrays, size_t begin,
                size_t end);
void apply_rule(Rule rule, const RuleScalars<double>& scalars, const RuleArrays<double>& arrays, size_t begin,
                size_t end);

}  // namespace troupe
