#include "kernels/loops/window_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/loops/vector_windows.cpp"
#include <hwy/foreach_target.h>

#include "kernels/loops/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace troupe {
namespace HWY_NAMESPACE {

/// Calls step(d, i) for all elements [i, n), with vectors of halved size for those at the end.
template <class D, class Step>
HWY_INLINE void for_vectors(D d, size_t i, size_t n, const Step& step) {
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) step(d, i);
  if constexpr (hn::MaxLanes(D()) > 1) {
    if (i < n) for_vectors(hn::Half<D>(), i, n, step);
  }
}

// One functor per loop: how the element of a point joins what the output has so far.
struct MaxLoop {
  template <class D>
  static HWY_INLINE Vector<D> add(D, Vector<D> best, Vector<D> x) {
    return hn::IfThenElse(hn::Gt(x, best), x, best);
  }
};
struct SumLoop {
  template <class D>
  static HWY_INLINE Vector<D> add(D, Vector<D> total, Vector<D> x) {
    return hn::Add(total, x);
  }
};

/// Points that stand side by side: four vectors at a time, as long as there are so many.
template <class Function, class T>
HWY_INLINE void combine_neighbours(const WindowPoints& points, const T* x, T* result) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + 4 * lanes <= points.n; i += 4 * lanes) {
    auto a = hn::LoadU(d, result + i), b = hn::LoadU(d, result + i + lanes),
         c = hn::LoadU(d, result + i + 2 * lanes), e = hn::LoadU(d, result + i + 3 * lanes);
    for (size_t p = 0; p < points.count; ++p) {
      const T* const at = x + p * points.step + i;
      a = Function::add(d, a, hn::LoadU(d, at));
      b = Function::add(d, b, hn::LoadU(d, at + lanes));
      c = Function::add(d, c, hn::LoadU(d, at + 2 * lanes));
      e = Function::add(d, e, hn::LoadU(d, at + 3 * lanes));
    }
    hn::StoreU(a, d, result + i);
    hn::StoreU(b, d, result + i + lanes);
    hn::StoreU(c, d, result + i + 2 * lanes);
    hn::StoreU(e, d, result + i + 3 * lanes);
  }
  for_vectors(d, i, points.n, [&](auto part, size_t at) HWY_ATTR {
    auto a = hn::LoadU(part, result + at);
    for (size_t p = 0; p < points.count; ++p)
      a = Function::add(part, a, hn::LoadU(part, x + p * points.step + at));
    hn::StoreU(a, part, result + at);
  });
}

/// Every second element of x, for types of vectors that can be taken apart so.
template <class T>
constexpr bool has_pairs = sizeof(T) >= 4;

/// One point, with a stride. A pair is loaded whole only where the next output has a pair, too: the last element may be the last
/// of x.
template <class Function, class T>
HWY_INLINE void combine_apart(size_t stride, size_t n, const T* x, T* result) {
  size_t i = 0;
  if constexpr (has_pairs<T>) {
    const hn::ScalableTag<T> d;
    for (; stride == 2 && i + hn::Lanes(d) < n; i += hn::Lanes(d)) {
      Vector<decltype(d)> even, odd;
      hn::LoadInterleaved2(d, x + 2 * i, even, odd);
      hn::StoreU(Function::add(d, hn::LoadU(d, result + i), even), d, result + i);
    }
  }
  const hn::CappedTag<T, 1> one;
  for (; i < n; ++i)
    hn::StoreU(Function::add(one, hn::LoadU(one, result + i), hn::LoadU(one, x + i * stride)), one,
               result + i);
}

template <class Function, class T>
void combine_points(const WindowPoints& points, const void* input, void* output) {
  const T* const x = static_cast<const T*>(input);
  T* const result = static_cast<T*>(output);
  if (points.stride == 1) return combine_neighbours<Function>(points, x, result);
  for (size_t p = 0; p < points.count; ++p)
    combine_apart<Function>(points.stride, points.n, x + p * points.step, result);
}

/// What of `rest` goes to the elements x; the remainder of it.
template <class D>
HWY_INLINE Vector<D> taken(D, Vector<D> x, Vector<D> best, Vector<D>& rest) {
  const auto hit = hn::Eq(x, best);
  const auto result = hn::IfThenElseZero(hit, rest);
  rest = hn::IfThenZeroElse(hit, rest);
  return result;
}

template <class D, class T>
HWY_INLINE void add_to(D d, Vector<D> v, T* sums) {
  hn::StoreU(hn::Add(hn::LoadU(d, sums), v), d, sums);
}

template <class T>
HWY_INLINE void max_gradient_apart(size_t stride, size_t n, const T* x, const T* best, T* rest, T* sums) {
  size_t i = 0;
  if constexpr (has_pairs<T>) {
    const hn::ScalableTag<T> d;
    for (; stride == 2 && i + hn::Lanes(d) < n; i += hn::Lanes(d)) {
      Vector<decltype(d)> even, odd, even_sum, odd_sum;
      hn::LoadInterleaved2(d, x + 2 * i, even, odd);
      hn::LoadInterleaved2(d, sums + 2 * i, even_sum, odd_sum);
      auto left = hn::LoadU(d, rest + i);
      even_sum = hn::Add(even_sum, taken(d, even, hn::LoadU(d, best + i), left));
      hn::StoreInterleaved2(even_sum, odd_sum, d, sums + 2 * i);
      hn::StoreU(left, d, rest + i);
    }
  }
  const hn::CappedTag<T, 1> one;
  for (; i < n; ++i) {
    auto left = hn::LoadU(one, rest + i);
    add_to(one, taken(one, hn::LoadU(one, x + i * stride), hn::LoadU(one, best + i), left),
           sums + i * stride);
    hn::StoreU(left, one, rest + i);
  }
}

template <class T>
void max_gradient(const WindowPoints& points, const void* input, const void* greatest, void* gradients,
                  void* output) {
  const T *const x = static_cast<const T*>(input), *const best = static_cast<const T*>(greatest);
  T *const rest = static_cast<T*>(gradients), *const sums = static_cast<T*>(output);
  if (points.stride != 1) {
    for (size_t p = 0; p < points.count; ++p)
      max_gradient_apart(points.stride, points.n, x + p * points.step, best, rest, sums + p * points.step);
    return;
  }
  for_vectors(hn::ScalableTag<T>(), 0, points.n, [&](auto d, size_t i) HWY_ATTR {
    const auto wanted = hn::LoadU(d, best + i);
    auto left = hn::LoadU(d, rest + i);
    for (size_t p = 0; p < points.count; ++p)
      add_to(d, taken(d, hn::LoadU(d, x + p * points.step + i), wanted, left), sums + p * points.step + i);
    hn::StoreU(left, d, rest + i);
  });
}

template <class T>
HWY_INLINE void spread_apart(size_t stride, size_t n, const T* values, T* sums) {
  size_t i = 0;
  const hn::ScalableTag<T> d;
  for (; stride == 2 && i + hn::Lanes(d) < n; i += hn::Lanes(d)) {
    Vector<decltype(d)> even, odd;
    hn::LoadInterleaved2(d, sums + 2 * i, even, odd);
    hn::StoreInterleaved2(hn::Add(even, hn::LoadU(d, values + i)), odd, d, sums + 2 * i);
  }
  for (; i < n; ++i) sums[i * stride] += values[i];
}

template <class T>
void spread(const WindowPoints& points, const void* input, void* output) {
  const T* const values = static_cast<const T*>(input);
  T* const sums = static_cast<T*>(output);
  for (size_t p = 0; p < points.count; ++p) {
    T* const to = sums + p * points.step;
    if (points.stride != 1) {
      spread_apart(points.stride, points.n, values, to);
      continue;
    }
    for_vectors(hn::ScalableTag<T>(), 0, points.n,
                [&](auto d, size_t i) HWY_ATTR { add_to(d, hn::LoadU(d, values + i), to + i); });
  }
}

template <class T>
constexpr WindowLoops float_loops = {combine_points<MaxLoop, T>, max_gradient<T>, combine_points<SumLoop, T>,
                                     spread<T>};
template <class T>
constexpr WindowLoops integer_loops = {combine_points<MaxLoop, T>, max_gradient<T>, nullptr, nullptr};

const WindowLoops* window_loops_for(DType dtype) {
  switch (dtype) {
    case DType::Float: return &float_loops<float>;
    case DType::Double: return &float_loops<double>;
    case DType::Int8: return &integer_loops<int8_t>;
    case DType::UInt8: return &integer_loops<uint8_t>;
    case DType::Int16: return &integer_loops<int16_t>;
    case DType::UInt16: return &integer_loops<uint16_t>;
    case DType::Int32: return &integer_loops<int32_t>;
    case DType::UInt32: return &integer_loops<uint32_t>;
    case DType::Int64: return &integer_loops<int64_t>;
    default: return &integer_loops<uint64_t>;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace troupe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace troupe {

HWY_EXPORT(window_loops_for);

const WindowLoops& window_loops(DType dtype) { return *HWY_DYNAMIC_DISPATCH(window_loops_for)(dtype); }

}  // namespace troupe
#endif
