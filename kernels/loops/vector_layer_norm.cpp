#include "kernels/loops/layer_norm_loops.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/loops/vector_layer_norm.cpp"
#include <hwy/foreach_target.h>

#include "kernels/loops/vector_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace troupe {
namespace HWY_NAMESPACE {

/// Calls step(d, i) for the elements of a row.
template <class T, class Step>
HWY_INLINE void for_all(size_t n, const Step& step) {
  for_row(hn::ScalableTag<T>(), 0, n, step);
}

template <class T>
RowNorm<T> measure(const T* x, size_t n, T epsilon) {
  const auto count = static_cast<T>(n);
  const T mean = sum_row<T>(n, [&](auto d, size_t i) HWY_ATTR { return hn::LoadU(d, x + i); }) / count;
  const T squares = sum_row<T>(n, [&](auto d, size_t i) HWY_ATTR {
    const auto distance = hn::Sub(hn::LoadU(d, x + i), hn::Set(d, mean));
    return hn::Mul(distance, distance);
  });
  return {mean, 1 / std::sqrt(squares / count + epsilon)};
}

template <class T>
void normalize(const T* x, size_t n, RowNorm<T> norm, const T* scale, const T* offset, T* y) {
  for_all<T>(n, [&](auto d, size_t i) HWY_ATTR {
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
  const T mean = sum_row<T>(n, scaled) / count;
  const T along =
      sum_row<T>(n, [&](auto d, size_t i) HWY_ATTR { return hn::Mul(scaled(d, i), distance(d, i)); }) / count;
  const T by_distance = norm.inverse * norm.inverse * along;
  for_all<T>(n, [&](auto d, size_t i) HWY_ATTR {
    const auto centred = hn::Sub(scaled(d, i), hn::Set(d, mean));
    const auto straight = hn::NegMulAdd(distance(d, i), hn::Set(d, by_distance), centred);
    hn::StoreU(hn::Mul(straight, hn::Set(d, norm.inverse)), d, dx + i);
  });
}

template <class T>
void add_gradients(const T* dy, const T* x, size_t n, RowNorm<T> norm, T* scale, T* offset) {
  for_all<T>(n, [&](auto d, size_t i) HWY_ATTR {
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
