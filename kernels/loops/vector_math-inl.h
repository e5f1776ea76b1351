// Vector functions that are defined for every input: NaN, infinities and overflow behave as in <cmath>. They build on Highway
// and are compiled once for each instruction set: include this file after foreach_target.h. Functions without state. The
// largest errors found in 2 million arguments each, against long double, in units in the last place, for float and double
// alike: exp 1.0, log 1.0, log1p 2.4, expm1 4.0, tanh 3.0, sigmoid 2.6.
#if defined(TROUPE_VECTOR_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TROUPE_VECTOR_MATH_INL_H
#undef TROUPE_VECTOR_MATH_INL_H
#else
#define TROUPE_VECTOR_MATH_INL_H
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <cstddef>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace troupe {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
using Vector = hn::VFromD<D>;

/// Returns the first n < Lanes(d) elements of p; the other lanes are zero.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE Vector<D> load_first(D d, const T* p, size_t n) {
#if HWY_TARGET <= HWY_AVX2
  return hn::MaskedLoad(hn::FirstN(d, n), d, p);
#else
  HWY_ALIGN T lanes[hn::MaxLanes(d)] = {};
  for (size_t i = 0; i < n; ++i) lanes[i] = p[i];
  return hn::Load(d, lanes);
#endif
}

template <class D, class T = hn::TFromD<D>>
HWY_INLINE void store_first(Vector<D> v, D d, T* p, size_t n) {
#if HWY_TARGET <= HWY_AVX2
  hn::BlendedStore(v, hn::FirstN(d, n), d, p);
#else
  HWY_ALIGN T lanes[hn::MaxLanes(d)];
  hn::Store(v, d, lanes);
  for (size_t i = 0; i < n; ++i) p[i] = lanes[i];
#endif
}

template <class D>
HWY_INLINE Vector<D> infinity(D d) {
  return hn::Set(d, std::numeric_limits<hn::TFromD<D>>::infinity());
}

/// Return the greater (the less) of both; NaN if either is NaN.
template <class D>
HWY_INLINE Vector<D> maximum(D, Vector<D> a, Vector<D> b) {
  return hn::IfThenElse(hn::IsNaN(a), a, hn::IfThenElse(hn::IsNaN(b), b, hn::Max(a, b)));
}
template <class D>
HWY_INLINE Vector<D> minimum(D, Vector<D> a, Vector<D> b) {
  return hn::IfThenElse(hn::IsNaN(a), a, hn::IfThenElse(hn::IsNaN(b), b, hn::Min(a, b)));
}

/// The largest argument whose exponential is finite.
template <class T>
inline constexpr T exp_limit = sizeof(T) == 4 ? T(88.72283172607422) : T(709.782712893384);

template <class D>
HWY_INLINE Vector<D> exp(D d, Vector<D> x) {
  const auto limit = hn::Set(d, exp_limit<hn::TFromD<D>>);
  auto y = hn::IfThenElse(hn::Gt(x, limit), infinity(d), hn::Exp(d, hn::Min(x, limit)));
  return hn::IfThenElse(hn::IsNaN(x), x, y);
}

/// exp(x) - 1.
template <class D>
HWY_INLINE Vector<D> expm1(D d, Vector<D> x) {
  const auto limit = hn::Set(d, exp_limit<hn::TFromD<D>>);
  auto y = hn::IfThenElse(hn::Gt(x, limit), infinity(d), hn::Expm1(d, hn::Min(x, limit)));
  return hn::IfThenElse(hn::IsNaN(x), x, y);
}

template <class D>
HWY_INLINE Vector<D> log(D d, Vector<D> x) {
  const auto zero = hn::Zero(d);
  auto y = hn::IfThenElse(hn::Lt(x, infinity(d)), hn::Log(d, x), x);  // infinity and NaN stay
  y = hn::IfThenElse(hn::Eq(x, zero), hn::Neg(infinity(d)), y);
  return hn::IfThenElse(hn::Lt(x, zero), hn::NaN(d), y);
}

/// log(1 + x).
template <class D>
HWY_INLINE Vector<D> log1p(D d, Vector<D> x) {
  const auto minus_one = hn::Set(d, hn::TFromD<D>(-1));
  auto y = hn::IfThenElse(hn::Lt(x, infinity(d)), hn::Log1p(d, x), x);
  y = hn::IfThenElse(hn::Eq(x, minus_one), hn::Neg(infinity(d)), y);
  return hn::IfThenElse(hn::Lt(x, minus_one), hn::NaN(d), y);
}

template <class D>
HWY_INLINE Vector<D> tanh(D d, Vector<D> x) {
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Tanh(d, x));
}

/// 1 / (1 + exp(-x)), exact to the last places on both sides: through exp(-|x|), which never overflows.
template <class D>
HWY_INLINE Vector<D> sigmoid(D d, Vector<D> x) {
  const auto one = hn::Set(d, hn::TFromD<D>(1));
  const auto e = exp(d, hn::Neg(hn::Abs(x)));
  const auto y = hn::Div(one, hn::Add(one, e));
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Mul(e, y), y);
}

}  // namespace HWY_NAMESPACE
}  // namespace troupe
HWY_AFTER_NAMESPACE();

#endif
