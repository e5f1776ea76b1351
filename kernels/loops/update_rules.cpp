#include "kernels/loops/update_rules.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/loops/update_rules.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace troupe {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The state of some lanes: v, a, b, c.
template <class V>
struct Lanes {
  V v, a, b, c;
};

/// Returns x moved towards zero by `by`; the result is zero if that passes zero.
template <class D, class V>
V shrink(D d, V x, V by) {
  return hn::CopySign(hn::Max(hn::Sub(hn::Abs(x), by), hn::Zero(d)), x);
}

/// Returns x to a power; the square root, the usual one, is fast.
template <class D, class T, class V>
V power(D d, V x, T exponent) {
  if (exponent == T(0.5)) return hn::Sqrt(x);
  T lanes[hn::MaxLanes(d)];
  hn::StoreU(x, d, lanes);
  for (size_t i = 0; i < hn::Lanes(d); ++i) lanes[i] = std::pow(lanes[i], exponent);
  return hn::LoadU(d, lanes);
}

// One function object for each rule: `states` is the number of arrays v, a, b, c of its state.
struct AddRule {
  static constexpr size_t states = 1;
  template <class D, class T, class V>
  void operator()(D, const RuleScalars<T>&, Lanes<V>& s, V g) const {
    s.v = hn::Add(s.v, g);
  }
};

struct SubtractRule {
  static constexpr size_t states = 1;
  template <class D, class T, class V>
  void operator()(D, const RuleScalars<T>&, Lanes<V>& s, V g) const {
    s.v = hn::Sub(s.v, g);
  }
};

struct GradientDescentRule {
  static constexpr size_t states = 1;
  template <class D, class T, class V>
  void operator()(D d, const RuleScalars<T>& k, Lanes<V>& s, V g) const {
    s.v = hn::NegMulAdd(hn::Set(d, k.rate), g, s.v);
  }
};

struct MomentumRule {
  static constexpr size_t states = 2;
  template <class D, class T, class V>
  void operator()(D d, const RuleScalars<T>& k, Lanes<V>& s, V g) const {
    s.a = hn::MulAdd(hn::Set(d, k.momentum), s.a, g);
    s.v = hn::NegMulAdd(hn::Set(d, k.rate), s.a, s.v);
  }
};

struct NesterovRule {
  static constexpr size_t states = 2;
  template <class D, class T, class V>
  void operator()(D d, const RuleScalars<T>& k, Lanes<V>& s, V g) const {
    s.a = hn::MulAdd(hn::Set(d, k.momentum), s.a, g);
    const V ahead = hn::MulAdd(hn::Set(d, k.momentum), s.a, g);
    s.v = hn::NegMulAdd(hn::Set(d, k.rate), ahead, s.v);
  }
};

/// `looks_ahead` selects the form of Nesterov.
template <bool looks_ahead>
struct KerasMomentumRule {
  static constexpr size_t states = 2;
  template <class D, class T, class V>
  void operator()(D d, const RuleScalars<T>& k, Lanes<V>& s, V g) const {
    const V momentum = hn::Set(d, k.momentum), step = hn::Mul(hn::Set(d, k.rate), g);
    s.a = hn::MulSub(momentum, s.a, step);
    s.v = hn::Add(s.v, looks_ahead ? hn::MulSub(momentum, s.a, step) : s.a);
  }
};

struct AdagradRule {
  static constexpr size_t states = 2;
  template <class D, class T, class V>
  void operator()(D d, const RuleScalars<T>& k, Lanes<V>& s, V g) const {
    if (k.update_slots) s.a = hn::MulAdd(g, g, s.a);
    const V divisor = hn::Add(hn::Sqrt(s.a), hn::Set(d, k.epsilon));
    s.v = hn::Sub(s.v, hn::Div(hn::Mul(hn::Set(d, k.rate), g), divisor));
  }
};

/// Moves the average of the gradients in s.a towards g.
template <class D, class T, class V>
void average(D d, const RuleScalars<T>& k, Lanes<V>& s, V g) {
  s.a = hn::MulAdd(hn::Set(d, 1 - k.beta1), hn::Sub(g, s.a), s.a);
}

/// Moves the averages of the gradients in s.a and of their squares in s.b towards g.
template <class D, class T, class V>
void average_squares(D d, const RuleScalars<T>& k, Lanes<V>& s, V g) {
  average(d, k, s, g);
  s.b = hn::MulAdd(hn::Set(d, 1 - k.beta2), hn::Sub(hn::Mul(g, g), s.b), s.b);
}

template <bool looks_ahead>
struct AdamRule {
  static constexpr size_t states = 3;
  template <class D, class T, class V>
  void operator()(D d, const RuleScalars<T>& k, Lanes<V>& s, V g) const {
    average_squares(d, k, s, g);
    const V divisor = hn::Add(hn::Sqrt(s.b), hn::Set(d, k.epsilon));
    const V direction =
        looks_ahead ? hn::MulAdd(hn::Set(d, k.beta1), s.a, hn::Mul(hn::Set(d, 1 - k.beta1), g)) : s.a;
    s.v = hn::Sub(s.v, hn::Div(hn::Mul(hn::Set(d, k.rate), direction), divisor));
  }
};

struct AmsGradRule {
  static constexpr size_t states = 4;
  template <class D, class T, class V>
  void operator()(D d, const RuleScalars<T>& k, Lanes<V>& s, V g) const {
    average_squares(d, k, s, g);
    s.c = hn::Max(s.b, s.c);
    const V divisor = hn::Add(hn::Sqrt(s.c), hn::Set(d, k.epsilon));
    s.v = hn::Sub(s.v, hn::Div(hn::Mul(hn::Set(d, k.rate), s.a), divisor));
  }
};

struct AdaMaxRule {
  static constexpr size_t states = 3;
  template <class D, class T, class V>
  void operator()(D d, const RuleScalars<T>& k, Lanes<V>& s, V g) const {
    average(d, k, s, g);
    s.b = hn::Max(hn::Mul(hn::Set(d, k.beta2), s.b), hn::Abs(g));
    const V divisor = hn::Add(s.b, hn::Set(d, k.epsilon));
    s.v = hn::Sub(s.v, hn::Div(hn::Mul(hn::Set(d, k.rate), s.a), divisor));
  }
};

/// Returns 1, 0 or -1, as x is above, equal to or below 0; NaN for NaN.
template <class D, class V>
V sign(D d, V x) {
  return hn::IfThenElse(hn::Lt(hn::Zero(d), hn::Abs(x)), hn::CopySign(hn::Set(d, hn::TFromD<D>(1)), x), x);
}

struct LionRule {
  static constexpr size_t states = 2;
  template <class D, class T, class V>
  void operator()(D d, const RuleScalars<T>& k, Lanes<V>& s, V g) const {
    const V direction = hn::MulAdd(hn::Set(d, k.beta1), s.a, hn::Mul(hn::Set(d, 1 - k.beta1), g));
    s.v = hn::NegMulAdd(hn::Set(d, k.rate), sign(d, direction), s.v);
    s.a = hn::MulAdd(hn::Set(d, 1 - k.beta2), hn::Sub(g, s.a), s.a);
  }
};

struct LarsRule {
  static constexpr size_t states = 2;
  template <class D, class T, class V>
  void operator()(D d, const RuleScalars<T>& k, Lanes<V>& s, V g) const {
    MomentumRule()(d, k, s, hn::MulAdd(hn::Set(d, k.l2), s.v, g));
  }
};

struct LambRule {
  static constexpr size_t states = 3;
  template <class D, class T, class V>
  void operator()(D d, const RuleScalars<T>& k, Lanes<V>& s, V g) const {
    average_squares(d, k, s, g);
    const V divisor = hn::Add(hn::Sqrt(s.b), hn::Set(d, k.epsilon));
    const V update = hn::MulAdd(hn::Set(d, k.l2), s.v, hn::Div(hn::Mul(hn::Set(d, k.base), s.a), divisor));
    s.v = hn::NegMulAdd(hn::Set(d, k.rate), update, s.v);
  }
};

struct AddSignRule {
  static constexpr size_t states = 2;
  template <class D, class T, class V>
  void operator()(D d, const RuleScalars<T>& k, Lanes<V>& s, V g) const {
    average(d, k, s, g);
    const V agreement = hn::Mul(sign(d, s.a), sign(d, g));
    const V factor = hn::MulAdd(hn::Set(d, k.decay), agreement, hn::Set(d, k.base));
    s.v = hn::NegMulAdd(hn::Set(d, k.rate), hn::Mul(factor, g), s.v);
  }
};

/// The agreement of the signs is -1, 0 or 1, or NaN, so no power is computed for each element.
struct PowerSignRule {
  static constexpr size_t states = 2;
  template <class D, class T, class V>
  void operator()(D d, const RuleScalars<T>& k, Lanes<V>& s, V g) const {
    average(d, k, s, g);
    const V agreement = hn::Mul(sign(d, s.a), sign(d, g)), zero = hn::Zero(d);
    const V grows = hn::Set(d, std::exp(k.base * k.decay)), shrinks = hn::Set(d, std::exp(-k.base * k.decay));
    const V one = hn::Set(d, T(1));
    const V power = hn::IfThenElse(hn::Lt(zero, agreement), grows,
                                   hn::IfThenElse(hn::Lt(agreement, zero), shrinks, hn::Add(one, agreement)));
    s.v = hn::NegMulAdd(hn::Set(d, k.rate), hn::Mul(power, g), s.v);
  }
};

struct RmsPropRule {
  static constexpr size_t states = 3;
  template <class D, class T, class V>
  void operator()(D d, const RuleScalars<T>& k, Lanes<V>& s, V g) const {
    s.a = hn::MulAdd(hn::Set(d, 1 - k.decay), hn::Sub(hn::Mul(g, g), s.a), s.a);
    const V divisor = hn::Sqrt(hn::Add(s.a, hn::Set(d, k.epsilon)));
    s.b = hn::MulAdd(hn::Set(d, k.momentum), s.b, hn::Div(hn::Mul(hn::Set(d, k.rate), g), divisor));
    s.v = hn::Sub(s.v, s.b);
  }
};

struct CenteredRmsPropRule {
  static constexpr size_t states = 4;
  template <class D, class T, class V>
  void operator()(D d, const RuleScalars<T>& k, Lanes<V>& s, V g) const {
    const V part = hn::Set(d, 1 - k.decay);
    s.a = hn::MulAdd(part, hn::Sub(g, s.a), s.a);
    s.b = hn::MulAdd(part, hn::Sub(hn::Mul(g, g), s.b), s.b);
    const V divisor = hn::Sqrt(hn::Add(hn::NegMulAdd(s.a, s.a, s.b), hn::Set(d, k.epsilon)));
    s.c = hn::MulAdd(hn::Set(d, k.momentum), s.c, hn::Div(hn::Mul(hn::Set(d, k.rate), g), divisor));
    s.v = hn::Sub(s.v, s.c);
  }
};

struct AdadeltaRule {
  static constexpr size_t states = 3;
  template <class D, class T, class V>
  void operator()(D d, const RuleScalars<T>& k, Lanes<V>& s, V g) const {
    const V decay = hn::Set(d, k.decay), part = hn::Set(d, 1 - k.decay), epsilon = hn::Set(d, k.epsilon);
    s.a = hn::MulAdd(decay, s.a, hn::Mul(part, hn::Mul(g, g)));
    const V update = hn::Mul(hn::Div(hn::Sqrt(hn::Add(s.b, epsilon)), hn::Sqrt(hn::Add(s.a, epsilon))), g);
    s.b = hn::MulAdd(decay, s.b, hn::Mul(part, hn::Mul(update, update)));
    s.v = hn::NegMulAdd(hn::Set(d, k.rate), update, s.v);
  }
};

struct FtrlRule {
  static constexpr size_t states = 3;
  template <class D, class T, class V>
  void operator()(D d, const RuleScalars<T>& k, Lanes<V>& s, V g) const {
    const V rate = hn::Set(d, k.rate), before = power(d, s.a, k.power);
    s.a = hn::MulAdd(g, g, s.a);
    const V after = power(d, s.a, k.power);
    const V shrunk = hn::MulAdd(hn::Set(d, 2 * k.shrinkage), s.v, g), growth = hn::Sub(after, before);
    if (k.linear_by_rate) {
      s.b = hn::Add(s.b, hn::NegMulAdd(growth, s.v, hn::Mul(rate, shrunk)));
      const V divisor = hn::Add(after, hn::Set(d, 2 * k.l2 * k.rate));
      s.v = hn::Div(hn::Neg(shrink(d, s.b, hn::Set(d, k.l1 * k.rate))), divisor);
    } else {
      s.b = hn::Add(s.b, hn::NegMulAdd(hn::Div(growth, rate), s.v, shrunk));
      const V divisor = hn::Add(hn::Div(after, rate), hn::Set(d, 2 * k.l2));
      s.v = hn::Div(hn::Neg(shrink(d, s.b, hn::Set(d, k.l1))), divisor);
    }
  }
};

/// Returns v after a step of `rate` against g, shrunk.
template <class D, class T, class V>
V proximal(D d, const RuleScalars<T>& k, V v, V rate, V g) {
  const V there = shrink(d, hn::NegMulAdd(rate, g, v), hn::Mul(rate, hn::Set(d, k.l1)));
  return hn::Div(there, hn::MulAdd(rate, hn::Set(d, k.l2), hn::Set(d, T(1))));
}

struct ProximalGradientDescentRule {
  static constexpr size_t states = 1;
  template <class D, class T, class V>
  void operator()(D d, const RuleScalars<T>& k, Lanes<V>& s, V g) const {
    s.v = proximal(d, k, s.v, hn::Set(d, k.rate), g);
  }
};

struct ProximalAdagradRule {
  static constexpr size_t states = 2;
  template <class D, class T, class V>
  void operator()(D d, const RuleScalars<T>& k, Lanes<V>& s, V g) const {
    s.a = hn::MulAdd(g, g, s.a);
    s.v = proximal(d, k, s.v, hn::Div(hn::Set(d, k.rate), hn::Sqrt(s.a)), g);
  }
};

struct AdagradDaRule {
  static constexpr size_t states = 3;
  template <class D, class T, class V>
  void operator()(D d, const RuleScalars<T>& k, Lanes<V>& s, V g) const {
    s.a = hn::Add(s.a, g);
    s.b = hn::MulAdd(g, g, s.b);
    const V rate = hn::Set(d, k.rate);
    const V divisor = hn::MulAdd(rate, hn::Set(d, k.l2), hn::Sqrt(s.b));
    s.v = hn::Div(hn::Neg(hn::Mul(rate, shrink(d, s.a, hn::Set(d, k.l1)))), divisor);
  }
};

template <class RuleType, class D, class T>
HWY_INLINE void apply_lanes(D d, const RuleScalars<T>& scalars, const RuleArrays<T>& arrays, size_t i) {
  const auto g = hn::LoadU(d, arrays.gradient + i);
  Lanes<hn::Vec<D>> state{hn::LoadU(d, arrays.before[0] + i), g, g, g};
  if constexpr (RuleType::states > 1) state.a = hn::LoadU(d, arrays.before[1] + i);
  if constexpr (RuleType::states > 2) state.b = hn::LoadU(d, arrays.before[2] + i);
  if constexpr (RuleType::states > 3) state.c = hn::LoadU(d, arrays.before[3] + i);
  RuleType{}(d, scalars, state, g);
  hn::StoreU(state.v, d, arrays.after[0] + i);
  if constexpr (RuleType::states > 1) hn::StoreU(state.a, d, arrays.after[1] + i);
  if constexpr (RuleType::states > 2) hn::StoreU(state.b, d, arrays.after[2] + i);
  if constexpr (RuleType::states > 3) hn::StoreU(state.c, d, arrays.after[3] + i);
}

template <class RuleType, class T>
void apply_range(const RuleScalars<T>& scalars, const RuleArrays<T>& arrays, size_t begin, size_t end) {
  const hn::ScalableTag<T> wide;
  const hn::CappedTag<T, 1> narrow;
  const size_t lanes = hn::Lanes(wide);
  size_t i = begin;
  for (; i + lanes <= end; i += lanes) apply_lanes<RuleType>(wide, scalars, arrays, i);
  for (; i < end; ++i) apply_lanes<RuleType>(narrow, scalars, arrays, i);
}

template <class T>
void apply(Rule rule, const RuleScalars<T>& scalars, const RuleArrays<T>& arrays, size_t begin, size_t end) {
  switch (rule) {
    case Rule::Add: return apply_range<AddRule>(scalars, arrays, begin, end);
    case Rule::Subtract: return apply_range<SubtractRule>(scalars, arrays, begin, end);
    case Rule::GradientDescent: return apply_range<GradientDescentRule>(scalars, arrays, begin, end);
    case Rule::Momentum: return apply_range<MomentumRule>(scalars, arrays, begin, end);
    case Rule::Nesterov: return apply_range<NesterovRule>(scalars, arrays, begin, end);
    case Rule::KerasMomentum: return apply_range<KerasMomentumRule<false>>(scalars, arrays, begin, end);
    case Rule::KerasNesterov: return apply_range<KerasMomentumRule<true>>(scalars, arrays, begin, end);
    case Rule::Adagrad: return apply_range<AdagradRule>(scalars, arrays, begin, end);
    case Rule::Adam: return apply_range<AdamRule<false>>(scalars, arrays, begin, end);
    case Rule::NesterovAdam: return apply_range<AdamRule<true>>(scalars, arrays, begin, end);
    case Rule::AmsGrad: return apply_range<AmsGradRule>(scalars, arrays, begin, end);
    case Rule::AdaMax: return apply_range<AdaMaxRule>(scalars, arrays, begin, end);
    case Rule::Lion: return apply_range<LionRule>(scalars, arrays, begin, end);
    case Rule::AddSign: return apply_range<AddSignRule>(scalars, arrays, begin, end);
    case Rule::PowerSign: return apply_range<PowerSignRule>(scalars, arrays, begin, end);
    case Rule::Lars: return apply_range<LarsRule>(scalars, arrays, begin, end);
    case Rule::Lamb: return apply_range<LambRule>(scalars, arrays, begin, end);
    case Rule::RmsProp: return apply_range<RmsPropRule>(scalars, arrays, begin, end);
    case Rule::CenteredRmsProp: return apply_range<CenteredRmsPropRule>(scalars, arrays, begin, end);
    case Rule::Adadelta: return apply_range<AdadeltaRule>(scalars, arrays, begin, end);
    case Rule::Ftrl: return apply_range<FtrlRule>(scalars, arrays, begin, end);
    case Rule::ProximalGradientDescent:
      return apply_range<ProximalGradientDescentRule>(scalars, arrays, begin, end);
    case Rule::ProximalAdagrad: return apply_range<ProximalAdagradRule>(scalars, arrays, begin, end);
    case Rule::AdagradDa: return apply_range<AdagradDaRule>(scalars, arrays, begin, end);
  }
}

void apply_floats(Rule rule, const RuleScalars<float>& scalars, const RuleArrays<float>& arrays, size_t begin,
                  size_t end) {
  apply(rule, scalars, arrays, begin, end);
}
void apply_doubles(Rule rule, const RuleScalars<double>& scalars, const RuleArrays<double>& arrays,
                   size_t begin, size_t end) {
  apply(rule, scalars, arrays, begin, end);
}

}  // namespace HWY_NAMESPACE
}  // namespace troupe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace troupe {

HWY_EXPORT(apply_floats);
HWY_EXPORT(apply_doubles);

void apply_rule(Rule rule, const RuleScalars<float>& scalars, const RuleArrays<float>& arrays, size_t begin,
                size_t end) {
  HWY_DYNAMIC_DISPATCH(apply_floats)(rule, scalars, arrays, begin, end);
}
void apply_rule(Rule rule, const RuleScalars<double>& scalars, const RuleArrays<double>& arrays, size_t begin,
                size_t end) {
  HWY_DYNAMIC_DISPATCH(apply_doubles)(rule, scalars, arrays, begin, end);
}

}  // namespace troupe
#endif
