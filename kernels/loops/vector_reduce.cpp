#include "kernels/loops/vector_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/loops/vector_reduce.cpp"
#include <hwy/foreach_target.h>

#include "kernels/loops/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace troupe {
namespace HWY_NAMESPACE {

// One functor for each reduction: its neutral element, how two vectors combine, and what is computed from an element first.
struct Plain {
  template <class V>
  static HWY_INLINE V map(V x) {
    return x;
  }
};
struct Sum : Plain {
  template <class T>
  static constexpr T neutral = T{0};
  template <class D>
  static HWY_INLINE Vector<D> combine(D, Vector<D> a, Vector<D> b) {
    return hn::Add(a, b);
  }
};
struct Prod : Plain {
  template <class T>
  static constexpr T neutral = T{1};
  template <class D>
  static HWY_INLINE Vector<D> combine(D, Vector<D> a, Vector<D> b) {
    return hn::Mul(a, b);
  }
};
struct Max : Plain {
  template <class T>
  static constexpr T neutral = -std::numeric_limits<T>::infinity();
  template <class D>
  static HWY_INLINE Vector<D> combine(D d, Vector<D> a, Vector<D> b) {
    return maximum(d, a, b);
  }
};
struct Min : Plain {
  template <class T>
  static constexpr T neutral = std::numeric_limits<T>::infinity();
  template <class D>
  static HWY_INLINE Vector<D> combine(D d, Vector<D> a, Vector<D> b) {
    return minimum(d, a, b);
  }
};

struct SumOfSquares : Sum {
  template <class V>
  static HWY_INLINE V map(V x) {
    return hn::Mul(x, x);
  }
};

/// Combines neighbouring lanes of two vectors: the lower half of the result is of `a`, the upper one of `b`.
template <class Function, class D>
HWY_INLINE Vector<D> combine_neighbours(D d, Vector<D> a, Vector<D> b) {
  return Function::combine(d, hn::ConcatEven(d, b, a), hn::ConcatOdd(d, b, a));
}

/// Combines all lanes, in the order of reduce_rows().
template <class Function, class D>
HWY_INLINE hn::TFromD<D> combine_lanes(D d, Vector<D> v) {
  if constexpr (hn::MaxLanes(D()) != 1)
    for (size_t lanes = hn::Lanes(d); lanes > 1; lanes /= 2) v = combine_neighbours<Function>(d, v, v);
  return hn::GetLane(v);
}

/// Reduces at most leaf_elements elements, with four accumulators so that additions overlap.
constexpr size_t leaf_elements = 1024;

template <class Function, class T>
HWY_INLINE Vector<hn::ScalableTag<T>> reduce_leaf(const T* x, size_t n) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  const auto neutral = hn::Set(d, Function::template neutral<T>);
  auto a = neutral, b = neutral, c = neutral, e = neutral;
  size_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    a = Function::combine(d, a, Function::map(hn::LoadU(d, x + i)));
    b = Function::combine(d, b, Function::map(hn::LoadU(d, x + i + lanes)));
    c = Function::combine(d, c, Function::map(hn::LoadU(d, x + i + 2 * lanes)));
    e = Function::combine(d, e, Function::map(hn::LoadU(d, x + i + 3 * lanes)));
  }
  for (; i + lanes <= n; i += lanes) a = Function::combine(d, a, Function::map(hn::LoadU(d, x + i)));
  if (i < n)
    b = Function::combine(
        d, b, hn::IfThenElse(hn::FirstN(d, n - i), Function::map(load_first(d, x + i, n - i)), neutral));
  return Function::combine(d, Function::combine(d, a, b), Function::combine(d, c, e));
}

/// Returns the combination of partial(0) to partial(count - 1) as a binary tree, with one vector in memory for each level.
template <class D, class Partial, class Combine>
HWY_INLINE Vector<D> combine_pairwise(D d, size_t count, const Partial& partial, const Combine& combine) {
  const size_t lanes = hn::Lanes(d);
  HWY_ALIGN hn::TFromD<D> levels[64 * hn::MaxLanes(d)];
  size_t depth = 0;
  for (size_t i = 0; i < count; ++i) {
    auto total = partial(i);
    for (size_t bit = i + 1; bit % 2 == 0; bit /= 2)
      total = combine(hn::Load(d, levels + --depth * lanes), total);
    hn::Store(total, d, levels + depth++ * lanes);
  }
  auto total = hn::Load(d, levels + --depth * lanes);
  while (depth != 0) total = combine(hn::Load(d, levels + --depth * lanes), total);
  return total;
}

/// Reduces a row to one vector.
template <class Function, class T>
HWY_INLINE Vector<hn::ScalableTag<T>> reduce_row(const T* x, size_t n) {
  const hn::ScalableTag<T> d;
  using V = Vector<decltype(d)>;
  if (n <= leaf_elements) return reduce_leaf<Function>(x, n);
  return combine_pairwise(
      d, (n - 1) / leaf_elements + 1,
      [&](size_t leaf) {
        const size_t begin = leaf * leaf_elements;
        return reduce_leaf<Function>(x + begin, n - begin < leaf_elements ? n - begin : leaf_elements);
      },
      [&](V a, V b) { return Function::combine(d, a, b); });
}

/// Reduces `rows` rows of n elements; with as many as a vector has lanes, lane i is the result of row i.
template <class Function, size_t rows, class T>
HWY_INLINE Vector<hn::ScalableTag<T>> reduce_rows(const T* x, size_t n) {
  if constexpr (rows == 1) {
    return reduce_leaf<Function>(x, n);
  } else {  // in this order, because memory is read fastest forwards
    const auto first = reduce_rows<Function, rows / 2>(x, n);
    const auto second = reduce_rows<Function, rows / 2>(x + rows / 2 * n, n);
    return combine_neighbours<Function>(hn::ScalableTag<T>(), first, second);
  }
}

/// Reduces short rows, one element after the other, with one lane for each row.
constexpr size_t short_row = 16;

template <class Function, class D, class T = hn::TFromD<D>>
HWY_INLINE void reduce_short_rows(D d, const T* x, size_t n, T* results) {
  const hn::RebindToSigned<D> index_type;
  const auto starts =
      hn::Mul(hn::Iota(index_type, 0), hn::Set(index_type, static_cast<hn::TFromD<decltype(index_type)>>(n)));
  auto total = hn::Set(d, Function::template neutral<T>);
  for (size_t i = 0; i < n; ++i)
    total = Function::combine(d, total, Function::map(hn::GatherIndex(d, x + i, starts)));
  hn::StoreU(total, d, results);
}

template <class Function, class T>
void reduce_loop(const void* input, size_t n, size_t rows, void* output) {
  const T* x = static_cast<const T*>(input);
  T* results = static_cast<T*>(output);
  const hn::ScalableTag<T> d;
  size_t row = 0;
  if (n > short_row) {
    constexpr size_t together = hn::MaxLanes(d);
    if (n <= leaf_elements)
      for (; row + together <= rows; row += together)
        hn::StoreU(reduce_rows<Function, together>(x + row * n, n), d, results + row);
    for (; row < rows; ++row) results[row] = combine_lanes<Function>(d, reduce_row<Function>(x + row * n, n));
    return;
  }
  const hn::CappedTag<T, 1> one;
  for (; row + hn::Lanes(d) <= rows; row += hn::Lanes(d))
    reduce_short_rows<Function>(d, x + row * n, n, results + row);
  for (; row < rows; ++row) reduce_short_rows<Function>(one, x + row * n, n, results + row);
}

template <class T>
ReduceLoop reduce_loop_of(VectorReduction function) {
  switch (function) {
    case VectorReduction::Sum: return reduce_loop<Sum, T>;
    case VectorReduction::Prod: return reduce_loop<Prod, T>;
    case VectorReduction::Max: return reduce_loop<Max, T>;
    case VectorReduction::SumOfSquares: return reduce_loop<SumOfSquares, T>;
    case VectorReduction::Min: return reduce_loop<Min, T>;
  }
  return nullptr;
}

ReduceLoop reduce_loop_for(VectorReduction function, DType dtype) {
  if (dtype == DType::Float) return reduce_loop_of<float>(function);
  return dtype == DType::Double ? reduce_loop_of<double>(function) : nullptr;
}

}  // namespace HWY_NAMESPACE
}  // namespace troupe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace troupe {

HWY_EXPORT(reduce_loop_for);

ReduceLoop vector_loop(VectorReduction function, DType dtype) {
  return HWY_DYNAMIC_DISPATCH(reduce_loop_for)(function, dtype);
}

}  // namespace troupe
#endif
