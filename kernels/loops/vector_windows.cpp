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

/// Calls meet(x of a point) for all points, in their order.
template <class T, class Meet>
HWY_INLINE void for_points(const WindowPoints& points, T* x, const Meet& meet) {
  for (size_t line = 0; line < points.lines; ++line)
    for (size_t p = 0; p < points.count; ++p) meet(x + line * points.line_step + p * points.step);
}

/// Elements that stand side by side: four vectors at a time, as long as there are so many.
template <class Function, class T>
HWY_INLINE void combine_neighbours(const WindowPoints& points, const T* x, T* result) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + 4 * lanes <= points.n; i += 4 * lanes) {
    auto a = hn::LoadU(d, result + i), b = hn::LoadU(d, result + i + lanes),
         c = hn::LoadU(d, result + i + 2 * lanes), e = hn::LoadU(d, result + i + 3 * lanes);
    for_points(points, x + i, [&](const T* at) HWY_ATTR {
      a = Function::add(d, a, hn::LoadU(d, at));
      b = Function::add(d, b, hn::LoadU(d, at + lanes));
      c = Function::add(d, c, hn::LoadU(d, at + 2 * lanes));
      e = Function::add(d, e, hn::LoadU(d, at + 3 * lanes));
    });
    hn::StoreU(a, d, result + i);
    hn::StoreU(b, d, result + i + lanes);
    hn::StoreU(c, d, result + i + 2 * lanes);
    hn::StoreU(e, d, result + i + 3 * lanes);
  }
  for_vectors(d, i, points.n, [&](auto part, size_t from) HWY_ATTR {
    auto a = hn::LoadU(part, result + from);
    for_points(points, x + from,
               [&](const T* at) HWY_ATTR { a = Function::add(part, a, hn::LoadU(part, at)); });
    hn::StoreU(a, part, result + from);
  });
}

/// Calls step(d, i) for outputs [i, n) whose elements stand two apart, with vectors of pairs as long as another output follows:
/// the second of its last pair may lie behind the tensor. Leaves i at the first output that was not met.
template <class D, class Step>
HWY_INLINE void for_pairs(D d, size_t& i, size_t n, const Step& step) {
  for (; i + hn::Lanes(d) < n; i += hn::Lanes(d)) step(d, i);
  if constexpr (hn::MaxLanes(D()) * sizeof(hn::TFromD<D>) > 16) for_pairs(hn::Half<D>(), i, n, step);
}

/// Whether vectors of such pairs can be taken apart.
template <class T>
constexpr bool has_pairs = sizeof(T) >= 4;

/// Combines elements that are a stride apart.
template <class Function, class T>
HWY_INLINE void combine_apart(const WindowPoints& points, const T* x, T* result) {
  size_t i = 0;
  if constexpr (has_pairs<T>) {
    if (points.stride == 2)
      for_pairs(hn::ScalableTag<T>(), i, points.n, [&](auto d, size_t from) HWY_ATTR {
        auto total = hn::LoadU(d, result + from);
        for_points(points, x + 2 * from, [&](const T* at) HWY_ATTR {
          Vector<decltype(d)> even, odd;
          hn::LoadInterleaved2(d, at, even, odd);
          total = Function::add(d, total, even);
        });
        hn::StoreU(total, d, result + from);
      });
  }
  const hn::CappedTag<T, 1> one;
  for (; i < points.n; ++i) {
    auto total = hn::LoadU(one, result + i);
    for_points(points, x + i * points.stride,
               [&](const T* at) HWY_ATTR { total = Function::add(one, total, hn::LoadU(one, at)); });
    hn::StoreU(total, one, result + i);
  }
}

template <class Function, class T>
void combine_points(const WindowPoints& points, const void* input, void* output) {
  const T* const x = static_cast<const T*>(input);
  T* const result = static_cast<T*>(output);
  if (points.stride == 1) return combine_neighbours<Function>(points, x, result);
  combine_apart<Function>(points, x, result);
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
void max_gradient(const WindowPoints& points, const void* input, const void* greatest, void* gradients,
                  void* output) {
  const T *const x = static_cast<const T*>(input), *const best = static_cast<const T*>(greatest);
  T *const rest = static_cast<T*>(gradients), *const sums = static_cast<T*>(output);
  size_t i = 0;
  if constexpr (has_pairs<T>) {
    if (points.stride == 2)
      for_pairs(hn::ScalableTag<T>(), i, points.n, [&](auto d, size_t from) HWY_ATTR {
        const auto wanted = hn::LoadU(d, best + from);
        auto left = hn::LoadU(d, rest + from);
        for_points(points, x + 2 * from, [&](const T* at) HWY_ATTR {
          Vector<decltype(d)> even, odd, even_sum, odd_sum;
          hn::LoadInterleaved2(d, at, even, odd);
          hn::LoadInterleaved2(d, sums + (at - x), even_sum, odd_sum);
          hn::StoreInterleaved2(hn::Add(even_sum, taken(d, even, wanted, left)), odd_sum, d, sums + (at - x));
        });
        hn::StoreU(left, d, rest + from);
      });
  }
  const auto rest_of = [&](auto d, size_t from) HWY_ATTR {
    const auto wanted = hn::LoadU(d, best + from);
    auto left = hn::LoadU(d, rest + from);
    for_points(points, x + from * points.stride, [&](const T* at) HWY_ATTR {
      add_to(d, taken(d, hn::LoadU(d, at), wanted, left), sums + (at - x));
    });
    hn::StoreU(left, d, rest + from);
  };
  if (points.stride == 1) return for_vectors(hn::ScalableTag<T>(), i, points.n, rest_of);
  for (; i < points.n; ++i) rest_of(hn::CappedTag<T, 1>(), i);
}

template <class T>
void spread(const WindowPoints& points, const void* input, void* output) {
  const T* const values = static_cast<const T*>(input);
  T* const sums = static_cast<T*>(output);
  size_t i = 0;
  if (points.stride == 2)
    for_pairs(hn::ScalableTag<T>(), i, points.n, [&](auto d, size_t from) HWY_ATTR {
      const auto value = hn::LoadU(d, values + from);
      for_points(points, sums + 2 * from, [&](T* at) HWY_ATTR {
        Vector<decltype(d)> even, odd;
        hn::LoadInterleaved2(d, at, even, odd);
        hn::StoreInterleaved2(hn::Add(even, value), odd, d, at);
      });
    });
  const auto rest_of = [&](auto d, size_t from) HWY_ATTR {
    const auto value = hn::LoadU(d, values + from);
    for_points(points, sums + from * points.stride, [&](T* at) HWY_ATTR { add_to(d, value, at); });
  };
  if (points.stride == 1) return for_vectors(hn::ScalableTag<T>(), i, points.n, rest_of);
  for (; i < points.n; ++i) rest_of(hn::CappedTag<T, 1>(), i);
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
