// Vector functions that are defined for every input: NaN, infinities and overflow behave as in <cmath>. They build on Highway
// and are compiled once for each instruction set: include this file after foreach_target.h. Functions without state. The
// largest errors found in 2 million arguments each, against long double, in units in the last place, for float and double
// alike: exp 1.0, log 1.0, log1p 2.4, expm1 4.0, tanh 3.0, sigmoid 2.6; for float alone erf 2.4, pow 0.5.
#if defined(TROUPE_VECTOR_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TROUPE_VECTOR_MATH_INL_H
#undef TROUPE_VECTOR_MATH_INL_H
#else
#define TROUPE_VECTOR_MATH_INL_H
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <cmath>
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
  const auto e = hn::Exp(d, hn::Neg(hn::Abs(x)));
  const auto y = hn::Div(hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one), hn::Add(one, e));
  return hn::IfThenElse(hn::IsNaN(x), x, y);
}

/// Returns c[0] + c[1] x + c[2] x^2 + ...
template <class D, size_t n>
HWY_INLINE Vector<D> polynomial(D d, Vector<D> x, const double (&c)[n]) {
  auto y = hn::Set(d, static_cast<hn::TFromD<D>>(c[n - 1]));
  for (size_t i = n - 1; i-- > 0;) y = hn::MulAdd(y, x, hn::Set(d, static_cast<hn::TFromD<D>>(c[i])));
  return y;
}

/// The error function, for float. Both polynomials are least-squares fits at Chebyshev nodes: of erf(x) / x by x^2 up to 1, and of
/// exp(x^2) (1 - erf(x)) / t by t = 1 / (1 + 0.4 x) from 1 to 4, where erf(x) rounds to 1.
template <class D>
HWY_INLINE Vector<D> erf(D d, Vector<D> x) {
  static_assert(sizeof(hn::TFromD<D>) == 4);
  static constexpr double near[] = {1.12837917,    -0.376126269,    0.112835975,  -0.0268543288,
                                    0.00518931194, -0.000801885499, 7.8824971e-05};
  static constexpr double far[] = {0.225841324,  0.224223303, 0.210474298, 0.183934378,
                                   0.0484840835, 0.21437587,  -0.107527859};
  const auto one = hn::Set(d, 1.0F), size = hn::Min(hn::Abs(x), hn::Set(d, 4.0F)),
             square = hn::Mul(size, size);
  const auto inner = hn::Mul(size, polynomial(d, square, near));
  const auto t = hn::Div(one, hn::MulAdd(size, hn::Set(d, 0.4F), one));
  const auto rest = hn::Mul(hn::Mul(t, polynomial(d, t, far)), hn::Exp(d, hn::Neg(square)));
  const auto y = hn::IfThenElse(hn::Lt(size, one), inner, hn::Sub(one, rest));
  return hn::IfThenElse(hn::IsNaN(x), x, hn::CopySign(y, x));
}

/// Returns f(x[i], y[i]) for each lane.
template <class D, class F>
HWY_INLINE Vector<D> lane_by_lane(D d, Vector<D> x, Vector<D> y, const F& f) {
  HWY_ALIGN hn::TFromD<D> a[hn::MaxLanes(D())];
  HWY_ALIGN hn::TFromD<D> b[hn::MaxLanes(D())];
  hn::Store(x, d, a);
  hn::Store(y, d, b);
  for (size_t i = 0; i < hn::Lanes(d); ++i) a[i] = f(a[i], b[i]);
  return hn::Load(d, a);
}

/// x to the power of y, for float: exp(y log(x)) in double. Vectors with an x that is not positive and finite are computed one by
/// one.
template <class D>
HWY_INLINE Vector<D> pow(D d, Vector<D> x, Vector<D> y) {
  static_assert(sizeof(hn::TFromD<D>) == 4);
  const auto each = [](float a, float b) { return std::pow(a, b); };
  if constexpr (hn::MaxLanes(D()) == 1) {
    return lane_by_lane(d, x, y, each);
  } else {
    const auto plain =
        hn::And(hn::And(hn::Gt(x, hn::Zero(d)), hn::Lt(x, infinity(d))), hn::Lt(hn::Abs(y), infinity(d)));
    if (HWY_UNLIKELY(!hn::AllTrue(d, plain))) return lane_by_lane(d, x, y, each);
    const hn::Half<D> half;
    const hn::Rebind<double, decltype(half)> wide;
    const auto power = [&](auto a, auto b) {
      const auto exponent = hn::Mul(hn::PromoteTo(wide, b), hn::Log(wide, hn::PromoteTo(wide, a)));
      return hn::DemoteTo(half, exp(wide, hn::Max(exponent, hn::Set(wide, -700.0))));
    };
    return hn::Combine(d, power(hn::UpperHalf(half, x), hn::UpperHalf(half, y)),
                       power(hn::LowerHalf(half, x), hn::LowerHalf(half, y)));
  }
}

/// The exact remainder of x / y with the sign of x.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE Vector<D> truncated_mod(D d, Vector<D> x, Vector<D> y) {
  const auto each = [](T a, T b) { return std::fmod(a, b); };
#if HWY_TARGET <= HWY_AVX2  // has fused multiply-adds
  // Below this limit the quotient is off by at most one and the product with it is exact.
  const auto limit = hn::Set(d, static_cast<T>(sizeof(T) == 4 ? 0x1p22 : 0x1p51));
  const auto quotient = hn::Trunc(hn::Div(x, y));
  const auto plain = hn::And(hn::Lt(hn::Abs(quotient), limit), hn::Lt(hn::Abs(y), infinity(d)));
  if (HWY_UNLIKELY(!hn::AllTrue(d, plain))) return lane_by_lane(d, x, y, each);
  const auto rest = hn::NegMulAdd(quotient, y, x), zero = hn::Zero(d);
  const auto is_past = hn::Lt(hn::Mul(hn::CopySign(hn::Set(d, T(1)), x), rest), zero);
  const auto result = hn::IfThenElse(is_past, hn::Add(rest, hn::CopySign(hn::Abs(y), x)), rest);
  return hn::IfThenElse(hn::Eq(result, zero), hn::CopySign(zero, x), result);
#else
  return lane_by_lane(d, x, y, each);
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace troupe
HWY_AFTER_NAMESPACE();

#endif
