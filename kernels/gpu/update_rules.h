// The update rules of optimizers on GPUs, element by element: the formulas of kernels/loops/update_rules.h. Pure functions.
#pragma once

#include <cmath>

#include "kernels/gpu/any.h"
#include "kernels/loops/update_rules.h"

namespace troupe::gpu {

/// Returns how many arrays v, a, b, c the state of a rule has.
inline size_t states_of(Rule rule) {
  switch (rule) {
    case Rule::Add:
    case Rule::Subtract:
    case Rule::GradientDescent:
    case Rule::ProximalGradientDescent: return 1;
    case Rule::Momentum:
    case Rule::Nesterov:
    case Rule::KerasMomentum:
    case Rule::KerasNesterov:
    case Rule::Adagrad:
    case Rule::Lion:
    case Rule::AddSign:
    case Rule::PowerSign:
    case Rule::Lars:
    case Rule::ProximalAdagrad: return 2;
    case Rule::AmsGrad:
    case Rule::CenteredRmsProp: return 4;
    default: return 3;
  }
}

/// The state of an element.
template <class W>
struct RuleState {
  W v, a, b, c;
};

/// Returns x moved towards zero by `by`; the result is zero if that passes zero.
template <class W>
TROUPE_ANY W shrink(W x, W by) {
  const W left = std::abs(x) - by;
  return std::copysign(left > 0 ? left : W(0), x);
}
/// Returns x to a power; the square root, the usual one, is fast.
template <class W>
TROUPE_ANY W power(W x, W exponent) {
  return exponent == W(0.5) ? std::sqrt(x) : std::pow(x, exponent);
}
/// Returns v after a step of `rate` against g, shrunk.
template <class W>
TROUPE_ANY W proximal(const RuleScalars<W>& k, W v, W rate, W g) {
  return shrink(v - rate * g, rate * k.l1) / (1 + rate * k.l2);
}

template <class W>
TROUPE_ANY void apply_momentum(Rule rule, const RuleScalars<W>& k, RuleState<W>& s, W g) {
  if (rule == Rule::Momentum || rule == Rule::Nesterov) {
    s.a = k.momentum * s.a + g;
    s.v -= k.rate * (rule == Rule::Nesterov ? k.momentum * s.a + g : s.a);
  } else {
    const W step = k.rate * g;
    s.a = k.momentum * s.a - step;
    s.v += rule == Rule::KerasNesterov ? k.momentum * s.a - step : s.a;
  }
}

template <class W>
TROUPE_ANY void apply_adam(Rule rule, const RuleScalars<W>& k, RuleState<W>& s, W g) {
  s.a += (1 - k.beta1) * (g - s.a);
  if (rule == Rule::AdaMax) {
    const W scaled = k.beta2 * s.b, size = std::abs(g);
    s.b = scaled > size ? scaled : size;
    s.v -= k.rate * s.a / (s.b + k.epsilon);
    return;
  }
  s.b += (1 - k.beta2) * (g * g - s.b);
  if (rule == Rule::AmsGrad) {
    s.c = s.b > s.c ? s.b : s.c;
    s.v -= k.rate * s.a / (std::sqrt(s.c) + k.epsilon);
    return;
  }
  const W direction = rule == Rule::NesterovAdam ? k.beta1 * s.a + (1 - k.beta1) * g : s.a;
  s.v -= k.rate * direction / (std::sqrt(s.b) + k.epsilon);
}

/// Returns 1, 0 or -1, as x is above, equal to or below 0; NaN for NaN.
template <class W>
TROUPE_ANY W sign(W x) {
  return std::abs(x) > 0 ? std::copysign(W(1), x) : x;
}

template <class W>
TROUPE_ANY void apply_signs(Rule rule, const RuleScalars<W>& k, RuleState<W>& s, W g) {
  if (rule == Rule::Lion) {
    s.v -= k.rate * sign(k.beta1 * s.a + (1 - k.beta1) * g);
    s.a += (1 - k.beta2) * (g - s.a);
    return;
  }
  s.a += (1 - k.beta1) * (g - s.a);
  const W agreement = k.decay * sign(s.a) * sign(g);
  s.v -= k.rate * (rule == Rule::AddSign ? k.base + agreement : std::exp(k.base * agreement)) * g;
}

template <class W>
TROUPE_ANY void apply_with_trust_ratio(Rule rule, const RuleScalars<W>& k, RuleState<W>& s, W g) {
  if (rule == Rule::Lars) return apply_momentum(Rule::Momentum, k, s, g + k.l2 * s.v);
  s.a += (1 - k.beta1) * (g - s.a);
  s.b += (1 - k.beta2) * (g * g - s.b);
  s.v -= k.rate * (k.base * s.a / (std::sqrt(s.b) + k.epsilon) + k.l2 * s.v);
}

template <class W>
TROUPE_ANY void apply_rms_prop(Rule rule, const RuleScalars<W>& k, RuleState<W>& s, W g) {
  const W part = 1 - k.decay;
  if (rule == Rule::RmsProp) {
    s.a += part * (g * g - s.a);
    s.b = k.momentum * s.b + k.rate * g / std::sqrt(s.a + k.epsilon);
    s.v -= s.b;
  } else {
    // The difference of squares is sensitive to rounding: it is computed as on the CPU.
    s.a = std::fma(part, g - s.a, s.a);
    s.b = std::fma(part, g * g - s.b, s.b);
    s.c = k.momentum * s.c + k.rate * g / std::sqrt(std::fma(-s.a, s.a, s.b) + k.epsilon);
    s.v -= s.c;
  }
}

template <class W>
TROUPE_ANY void apply_adadelta(const RuleScalars<W>& k, RuleState<W>& s, W g) {
  const W part = 1 - k.decay;
  s.a = k.decay * s.a + part * (g * g);
  const W update = std::sqrt(s.b + k.epsilon) / std::sqrt(s.a + k.epsilon) * g;
  s.b = k.decay * s.b + part * (update * update);
  s.v -= k.rate * update;
}

template <class W>
TROUPE_ANY void apply_ftrl(const RuleScalars<W>& k, RuleState<W>& s, W g) {
  const W before = power(s.a, k.power);
  s.a += g * g;
  const W after = power(s.a, k.power);
  const W shrunk = 2 * k.shrinkage * s.v + g, growth = after - before;
  if (k.linear_by_rate) {
    s.b += k.rate * shrunk - growth * s.v;
    s.v = -shrink(s.b, k.l1 * k.rate) / (after + 2 * k.l2 * k.rate);
  } else {
    s.b += shrunk - growth / k.rate * s.v;
    s.v = -shrink(s.b, k.l1) / (after / k.rate + 2 * k.l2);
  }
}

template <class W>
TROUPE_ANY void apply_adagrad(Rule rule, const RuleScalars<W>& k, RuleState<W>& s, W g) {
  if (rule == Rule::Adagrad) {
    if (k.update_slots) s.a += g * g;
    s.v -= k.rate * g / (std::sqrt(s.a) + k.epsilon);
  } else if (rule == Rule::ProximalAdagrad) {
    s.a += g * g;
    s.v = proximal(k, s.v, k.rate / std::sqrt(s.a), g);
  } else {
    s.a += g;
    s.b += g * g;
    s.v = -(k.rate * shrink(s.a, k.l1)) / (k.rate * k.l2 + std::sqrt(s.b));
  }
}

/// Applies the rule to an element whose gradient is g.
template <class W>
TROUPE_ANY void apply_rule(Rule rule, const RuleScalars<W>& k, RuleState<W>& s, W g) {
  switch (rule) {
    case Rule::Add: s.v += g; return;
    case Rule::Subtract: s.v -= g; return;
    case Rule::GradientDescent: s.v -= k.rate * g; return;
    case Rule::Momentum:
    case Rule::Nesterov:
    case Rule::KerasMomentum:
    case Rule::KerasNesterov: return apply_momentum(rule, k, s, g);
    case Rule::Adam:
    case Rule::NesterovAdam:
    case Rule::AmsGrad:
    case Rule::AdaMax: return apply_adam(rule, k, s, g);
    case Rule::Lion:
    case Rule::AddSign:
    case Rule::PowerSign: return apply_signs(rule, k, s, g);
    case Rule::Lars:
    case Rule::Lamb: return apply_with_trust_ratio(rule, k, s, g);
    case Rule::RmsProp:
    case Rule::CenteredRmsProp: return apply_rms_prop(rule, k, s, g);
    case Rule::Adadelta: return apply_adadelta(k, s, g);
    case Rule::Ftrl: return apply_ftrl(k, s, g);
    case Rule::ProximalGradientDescent: s.v = proximal(k, s.v, k.rate, g); return;
    case Rule::Adagrad:
    case Rule::ProximalAdagrad:
    case Rule::AdagradDa: return apply_adagrad(rule, k, s, g);
  }
}

}  // namespace troupe::gpu
