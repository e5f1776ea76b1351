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

/// Round as in <cmath>: down, up, and to the nearest, halves to even. A zero has the sign of x, which Highway loses on x86 before
/// SSE4.1.
template <class V>
HWY_INLINE V floor(V x) {
  return hn::CopySign(hn::Floor(x), x);
}
template <class V>
HWY_INLINE V ceil(V x) {
  return hn::CopySign(hn::Ceil(x), x);
}
template <class V>
HWY_INLINE V round_to_even(V x) {
  return hn::CopySign(hn::Round(x), x);
}

/// Return the greater (the less) of both; NaN if either is NaN. x86 returns the second operand if either is NaN.
template <class D>
HWY_INLINE Vector<D> maximum(D, Vector<D> a, Vector<D> b) {
  const auto greater = hn::IfThenElse(hn::IsNaN(b), b, hn::Max(b, a));
  return HWY_ARCH_X86 ? greater : hn::IfThenElse(hn::IsNaN(a), a, greater);
}
template <class D>
HWY_INLINE Vector<D> minimum(D, Vector<D> a, Vector<D> b) {
  const auto less = hn::IfThenElse(hn::IsNaN(b), b, hn::Min(b, a));
  return HWY_ARCH_X86 ? less : hn::IfThenElse(hn::IsNaN(a), a, less);
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

/// Returns 2^k m^y for the positive numbers x = 2^k m, with m in [sqrt(1/2), sqrt(2)): 2^(y (k + log2(m))) in double. Both
/// polynomials interpolate at Chebyshev nodes: log2(m) / s by s^2, where s = (m - 1) / (m + 1), with a relative error of 2^-45, and
/// 2^f for |f| <= 1/2 with 2^-34. The result overflows and underflows only when it is rounded to float.
template <class D>
HWY_INLINE Vector<D> power_of_mantissa(D wide, Vector<D> k, Vector<D> m, Vector<D> y) {
  static constexpr double log2_over_s[] = {2.88539008177785062,  0.961796694112274294, 0.57707794265730062,
                                           0.412209224388015523, 0.319906789515932324, 0.282885239328857056};
  static constexpr double exp2[] = {0.999999999959561751,    0.693147180556832414,    0.240226512134980927,
                                    0.0555041090632586661,   0.00961802561331803425,  0.00133334784736854153,
                                    0.000154697292141182971, 0.0000153037007113656939};
  const auto one = hn::Set(wide, 1.0);
  const auto s = hn::Div(hn::Sub(m, one), hn::Add(m, one));
  const auto exponent = hn::Mul(y, hn::MulAdd(s, polynomial(wide, hn::Mul(s, s), log2_over_s), k));
  const auto t = hn::Min(hn::Max(exponent, hn::Set(wide, -200.0)), hn::Set(wide, 200.0));
  // The sum with this number has the rounded t in its lowest bits.
  const auto shifter = hn::Set(wide, 0x1.8p52), shifted = hn::Add(t, shifter);
  const auto fraction = polynomial(wide, hn::Sub(t, hn::Sub(shifted, shifter)), exp2);
  const hn::RebindToUnsigned<D> bits;
  return hn::BitCast(wide,
                     hn::Add(hn::BitCast(bits, fraction), hn::ShiftLeft<52>(hn::BitCast(bits, shifted))));
}

/// x to the power of y, for float. Vectors with an x that is not positive, normal and finite are computed one by one.
template <class D>
HWY_INLINE Vector<D> pow(D d, Vector<D> x, Vector<D> y) {
  static_assert(sizeof(hn::TFromD<D>) == 4);
  const auto each = [](float a, float b) { return std::pow(a, b); };
  if constexpr (hn::MaxLanes(D()) == 1) {
    return lane_by_lane(d, x, y, each);
  } else {
    const auto least = hn::Set(d, std::numeric_limits<float>::min());
    const auto plain =
        hn::And(hn::And(hn::Ge(x, least), hn::Lt(x, infinity(d))), hn::Lt(hn::Abs(y), infinity(d)));
    if (HWY_UNLIKELY(!hn::AllTrue(d, plain))) return lane_by_lane(d, x, y, each);
    const hn::RebindToSigned<D> integers;
    const auto bits = hn::BitCast(integers, x), root_of_half = hn::Set(integers, 0x3f3504f3);
    const auto k = hn::ShiftRight<23>(hn::Sub(bits, root_of_half));
    const auto m = hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<23>(k)));
    const hn::Half<D> half;
    const hn::Half<decltype(integers)> half_integers;
    const hn::Rebind<double, decltype(half)> wide;
    const auto power = [&](auto exponents, auto mantissas, auto b) {
      return hn::DemoteTo(half, power_of_mantissa(wide, hn::PromoteTo(wide, exponents),
                                                  hn::PromoteTo(wide, mantissas), hn::PromoteTo(wide, b)));
    };
    return hn::Combine(
        d, power(hn::UpperHalf(half_integers, k), hn::UpperHalf(half, m), hn::UpperHalf(half, y)),
        power(hn::LowerHalf(half_integers, k), hn::LowerHalf(half, m), hn::LowerHalf(half, y)));
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
