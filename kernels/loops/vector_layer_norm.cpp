#include "kernels/loops/layer_norm_loops.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/loops/vector_layer_norm.cpp"
#include <hwy/foreach_target.h>

#include "kernels/loops/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace troupe {
namespace HWY_NAMESPACE {

template <class T>
using Many = hn::ScalableTag<T>;
template <class T>
using One = hn::CappedTag<T, 1>;

/// Calls step(d, i) for the elements of a row: as many as a vector has at a time, then one at a time.
template <class T, class Step>
HWY_INLINE void for_row(size_t n, const Step& step) {
  const Many<T> d;
  size_t i = 0;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) step(d, i);
  for (; i < n; ++i) step(One<T>(), i);
}

/// Returns the sum of term(d, i) over the row, added up in four vectors.
template <class T, class Term>
HWY_INLINE T sum(size_t n, const Term& term) {
  const Many<T> d;
  const size_t lanes = hn::Lanes(d);
  auto a = hn::Zero(d), b = hn::Zero(d), c = hn::Zero(d), e = hn::Zero(d);
  size_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    a = hn::Add(a, term(d, i));
    b = hn::Add(b, term(d, i + lanes));
    c = hn::Add(c, term(d, i + 2 * lanes));
    e = hn::Add(e, term(d, i + 3 * lanes));
  }
  for (; i + lanes <= n; i += lanes) a = hn::Add(a, term(d, i));
  T total = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(a, b), hn::Add(c, e))));
  for (; i < n; ++i) total += hn::GetLane(term(One<T>(), i));
  return total;
}

template <class T>
RowNorm<T> measure(const T* x, size_t n, T epsilon) {
  const auto count = static_cast<T>(n);
  const T mean = sum<T>(n, [&](auto d, size_t i) HWY_ATTR { return hn::LoadU(d, x + i); }) / count;
  const T squares = sum<T>(n, [&](auto d, size_t i) HWY_ATTR {
    const auto distance = hn::Sub(hn::LoadU(d, x + i), hn::Set(d, mean));
    return hn::Mul(distance, distance);
  });
  return {mean, 1 / std::sqrt(squares / count + epsilon)};
}

template <class T>
void normalize(const T* x, size_t n, RowNorm<T> norm, const T* scale, const T* offset, T* y) {
  for_row<T>(n, [&](auto d, size_t i) HWY_ATTR {
    const auto distance = hn::Sub(hn::LoadU(d, x + i), hn::Set(d, norm.mean));
    const auto factor = hn::Mul(hn::LoadU(d, scale + i), hn::Set(d, norm.inverse));
    hn::StoreU(hn::MulAdd(distance, factor, hn::LoadU(d, offset + i)), d, y + i);
  });
}

/// With g = dy scale: dx = inverse (g - mean of g - (x - mean) inverse^2 (mean of g (x - mean))).
template <class T>
void gradient(const T* dy, const T* x, size_t n, RowNorm<T> norm, const T* scale, T* dx) {
  const auto scaled = [&](auto d, size_t i)
                          HWY_ATTR { return hn::Mul(hn::LoadU(d, dy + i), hn::LoadU(d, scale + i)); };
  const auto distance = [&](auto d, size_t i)
                            HWY_ATTR { return hn::Sub(hn::LoadU(d, x + i), hn::Set(d, norm.mean)); };
  const auto count = static_cast<T>(n);
  const T mean = sum<T>(n, scaled) / count;
  const T along =
      sum<T>(n, [&](auto d, size_t i) HWY_ATTR { return hn::Mul(scaled(d, i), distance(d, i)); }) / count;
  const T by_distance = norm.inverse * norm.inverse * along;
  for_row<T>(n, [&](auto d, size_t i) HWY_ATTR {
    const auto centred = hn::Sub(scaled(d, i), hn::Set(d, mean));
    const auto straight = hn::NegMulAdd(distance(d, i), hn::Set(d, by_distance), centred);
    hn::StoreU(hn::Mul(straight, hn::Set(d, norm.inverse)), d, dx + i);
  });
}

template <class T>
void add_gradients(const T* dy, const T* x, size_t n, RowNorm<T> norm, T* scale, T* offset) {
  for_row<T>(n, [&](auto d, size_t i) HWY_ATTR {
    const auto gradient = hn::LoadU(d, dy + i);
    const auto normal =
        hn::Mul(hn::Sub(hn::LoadU(d, x + i), hn::Set(d, norm.mean)), hn::Set(d, norm.inverse));
    hn::StoreU(hn::MulAdd(gradient, normal, hn::LoadU(d, scale + i)), d, scale + i);
    hn::StoreU(hn::Add(gradient, hn::LoadU(d, offset + i)), d, offset + i);
  });
}

template <class T>
constexpr LayerNormLoops<T> loops = {measure<T>, normalize<T>, gradient<T>, add_gradients<T>};

const LayerNormLoops<float>* loops_of_floats() { return &loops<float>; }
const LayerNormLoops<double>* loops_of_doubles() { return &loops<double>; }

}  // namespace HWY_NAMESPACE
}  // namespace troupe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace troupe {

HWY_EXPORT(loops_of_floats);
HWY_EXPORT(loops_of_doubles);

template <>
const LayerNormLoops<float>& layer_norm_loops() {
  return *HWY_DYNAMIC_DISPATCH(loops_of_floats)();
}
template <>
const LayerNormLoops<double>& layer_norm_loops() {
  return *HWY_DYNAMIC_DISPATCH(loops_of_doubles)();
}

}  // namespace troupe
#endif
