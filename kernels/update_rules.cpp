#include "kernels/update_rules.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/update_rules.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace troupe {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The state of some lanes: v, a, b.
template <class V>
struct Lanes {
  V v, a, b;
};

// One function object per rule: `states` says how many of v, a, b it has.
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

struct AdagradRule {
  static constexpr size_t states = 2;
  template <class D, class T, class V>
  void operator()(D d, const RuleScalars<T>& k, Lanes<V>& s, V g) const {
    s.a = hn::MulAdd(g, g, s.a);
    s.v = hn::Sub(s.v, hn::Div(hn::Mul(hn::Set(d, k.rate), g), hn::Sqrt(s.a)));
  }
};

struct AdamRule {
  static constexpr size_t states = 3;
  template <class D, class T, class V>
  void operator()(D d, const RuleScalars<T>& k, Lanes<V>& s, V g) const {
    s.a = hn::MulAdd(hn::Set(d, 1 - k.beta1), hn::Sub(g, s.a), s.a);
    s.b = hn::MulAdd(hn::Set(d, 1 - k.beta2), hn::Sub(hn::Mul(g, g), s.b), s.b);
    const V divisor = hn::Add(hn::Sqrt(s.b), hn::Set(d, k.epsilon));
    s.v = hn::Sub(s.v, hn::Div(hn::Mul(hn::Set(d, k.rate), s.a), divisor));
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

template <class RuleType, class D, class T>
HWY_INLINE void apply_lanes(D d, const RuleScalars<T>& scalars, const RuleArrays<T>& arrays, size_t i) {
  const auto g = hn::LoadU(d, arrays.gradient + i);
  Lanes<hn::Vec<D>> state{hn::LoadU(d, arrays.before[0] + i), g, g};
  if constexpr (RuleType::states > 1) state.a = hn::LoadU(d, arrays.before[1] + i);
  if constexpr (RuleType::states > 2) state.b = hn::LoadU(d, arrays.before[2] + i);
  RuleType{}(d, scalars, state, g);
  hn::StoreU(state.v, d, arrays.after[0] + i);
  if constexpr (RuleType::states > 1) hn::StoreU(state.a, d, arrays.after[1] + i);
  if constexpr (RuleType::states > 2) hn::StoreU(state.b, d, arrays.after[2] + i);
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
    case Rule::Adagrad: return apply_range<AdagradRule>(scalars, arrays, begin, end);
    case Rule::Adam: return apply_range<AdamRule>(scalars, arrays, begin, end);
    case Rule::RmsProp: return apply_range<RmsPropRule>(scalars, arrays, begin, end);
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
