#include "kernels/loops/vector_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/loops/vector_search.cpp"
#include <hwy/foreach_target.h>

#include "kernels/loops/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace troupe {
namespace HWY_NAMESPACE {

/// The best element so far in each lane, and the step at which it came: the first of equal elements; NaN only if it comes
/// first.
template <bool Greatest, class D>
struct Best {
  using Steps = hn::RebindToSigned<D>;
  Vector<D> value;
  Vector<Steps> at;

  HWY_INLINE void meet(D d, Vector<D> x, Vector<Steps> step) {
    const auto better = Greatest ? hn::Gt(x, value) : hn::Lt(x, value);
    value = hn::IfThenElse(better, x, value);
    at = hn::IfThenElse(hn::RebindMask(Steps(), better), step, at);
    (void)d;
  }
};

template <class D, class T = hn::TFromD<D>>
HWY_INLINE auto step_of(D, size_t k) {
  const hn::RebindToSigned<D> steps;
  return hn::Set(steps, static_cast<hn::TFromD<decltype(steps)>>(k));
}

/// Searches neighbouring columns, or short rows, with one lane for each: `load(k)` returns element k of each.
template <bool Greatest, size_t Vectors, class D, class Load>
HWY_INLINE void search_lanes(D d, size_t length, int64_t* at, const Load& load) {
  Best<Greatest, D> best[Vectors];
  for (size_t v = 0; v < Vectors; ++v) best[v] = {load(0, v), step_of(d, 0)};
  for (size_t k = 1; k < length; ++k)
    for (size_t v = 0; v < Vectors; ++v) best[v].meet(d, load(k, v), step_of(d, k));
  const hn::RebindToSigned<D> steps;
  HWY_ALIGN hn::TFromD<decltype(steps)> found[hn::MaxLanes(D())];
  for (size_t v = 0; v < Vectors; ++v) {
    hn::Store(best[v].at, steps, found);
    for (size_t i = 0; i < hn::Lanes(d); ++i) at[v * hn::Lanes(d) + i] = found[i];
  }
}

template <bool Greatest, size_t Vectors, class D, class T>
HWY_INLINE void search_columns_of(D d, const T* x, size_t length, size_t stride, size_t columns, size_t& i,
                                  int64_t* at) {
  for (; i + Vectors * hn::Lanes(d) <= columns; i += Vectors * hn::Lanes(d))
    search_lanes<Greatest, Vectors>(d, length, at + i, [&](size_t k, size_t v) {
      return hn::LoadU(d, x + i + k * stride + v * hn::Lanes(d));
    });
}

template <bool Greatest, class T>
void search_columns(const void* input, size_t length, size_t stride, size_t columns, int64_t* at) {
  const T* x = static_cast<const T*>(input);
  const hn::ScalableTag<T> d;
  size_t i = 0;
  search_columns_of<Greatest, 4>(d, x, length, stride, columns, i, at);
  search_columns_of<Greatest, 1>(d, x, length, stride, columns, i, at);
  search_columns_of<Greatest, 1>(hn::CappedTag<T, 1>(), x, length, stride, columns, i, at);
}

template <bool Greatest, class D, class T>
HWY_INLINE void search_short_rows_of(D d, const T* x, size_t n, size_t rows, size_t& i, int64_t* at) {
  const hn::RebindToSigned<D> steps;
  const auto starts = hn::Mul(hn::Iota(steps, 0), step_of(d, n));
  for (; i + hn::Lanes(d) <= rows; i += hn::Lanes(d))
    search_lanes<Greatest, 1>(d, n, at + i,
                              [&](size_t k, size_t) { return hn::GatherIndex(d, x + i * n + k, starts); });
}

/// Searches one row: every lane searches its part, then the lanes are compared.
template <bool Greatest, class T>
HWY_INLINE int64_t search_row(const T* x, size_t n) {
  if (x[0] != x[0]) return 0;
  const hn::ScalableTag<T> d;
  const hn::RebindToSigned<decltype(d)> steps;
  const size_t lanes = hn::Lanes(d);
  Best<Greatest, decltype(d)> best{hn::Set(d, x[0]), hn::Zero(steps)};
  auto step = hn::Iota(steps, 0);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes, step = hn::Add(step, step_of(d, lanes)))
    best.meet(d, hn::LoadU(d, x + i), step);
  if (i < n)
    best.meet(d, hn::IfThenElse(hn::FirstN(d, n - i), load_first(d, x + i, n - i), hn::Set(d, x[0])), step);
  const auto winner = Greatest ? hn::MaxOfLanes(d, best.value) : hn::MinOfLanes(d, best.value);
  const auto last = hn::Set(steps, hwy::LimitsMax<hn::TFromD<decltype(steps)>>());
  const auto at = hn::IfThenElse(hn::RebindMask(steps, hn::Eq(best.value, winner)), best.at, last);
  return hn::GetLane(hn::MinOfLanes(steps, at));
}

template <bool Greatest, class T>
void search_rows(const void* input, size_t n, size_t rows, int64_t* at) {
  const T* x = static_cast<const T*>(input);
  constexpr size_t short_row = 16;
  size_t row = 0;
  if (n <= short_row) {
    search_short_rows_of<Greatest>(hn::ScalableTag<T>(), x, n, rows, row, at);
    search_short_rows_of<Greatest>(hn::CappedTag<T, 1>(), x, n, rows, row, at);
  }
  for (; row < rows; ++row) at[row] = search_row<Greatest>(x + row * n, n);
}

template <bool Greatest, class T>
constexpr SearchLoops loops = {search_rows<Greatest, T>, search_columns<Greatest, T>};

const SearchLoops* search_loops_for(DType dtype, bool greatest) {
  if (dtype == DType::Float) return greatest ? &loops<true, float> : &loops<false, float>;
  return greatest ? &loops<true, double> : &loops<false, double>;
}

}  // namespace HWY_NAMESPACE
}  // namespace troupe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace troupe {

HWY_EXPORT(search_loops_for);

const SearchLoops& search_loops(DType dtype, bool greatest) {
  return *HWY_DYNAMIC_DISPATCH(search_loops_for)(dtype, greatest);
}

}  // namespace troupe
#endif
