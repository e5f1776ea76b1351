// Loops over the elements of a row with vectors. They build on Highway and are compiled once for each instruction set: include this
// file after foreach_target.h. Functions without state.
#if defined(TROUPE_VECTOR_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TROUPE_VECTOR_ROWS_INL_H
#undef TROUPE_VECTOR_ROWS_INL_H
#else
#define TROUPE_VECTOR_ROWS_INL_H
#endif

#include "kernels/loops/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace troupe {
namespace HWY_NAMESPACE {

/// Calls step(d, i) for the elements of a row from i on, with vectors of halved size for those at the end.
template <class D, class Step>
HWY_INLINE void for_row(D d, size_t i, size_t n, const Step& step) {
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) step(d, i);
  if constexpr (hn::MaxLanes(D()) > 1) {
    if (i < n) for_row(hn::Half<D>(), i, n, step);
  }
}

/// Returns the sum of term(d, i) over a row of n elements, added up in four vectors of T.
template <class T, class Term>
HWY_INLINE T sum_row(size_t n, const Term& term) {
  const hn::ScalableTag<T> d;
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
  const hn::CappedTag<T, 1> one;
  for (; i < n; ++i) total += hn::GetLane(term(one, i));
  return total;
}

}  // namespace HWY_NAMESPACE
}  // namespace troupe
HWY_AFTER_NAMESPACE();

#endif
