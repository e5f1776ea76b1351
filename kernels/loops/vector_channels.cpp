#include "kernels/loops/channel_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/loops/vector_channels.cpp"
#include <hwy/foreach_target.h>

#include "kernels/loops/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace troupe {
namespace HWY_NAMESPACE {

using Floats = hn::ScalableTag<float>;

/// Calls step(d, i) for the elements of a row, with vectors of halved size for those at the end.
template <class D, class Step>
HWY_INLINE void for_row(D d, size_t i, size_t n, const Step& step) {
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) step(d, i);
  if constexpr (hn::MaxLanes(D()) > 1) {
    if (i < n) for_row(hn::Half<D>(), i, n, step);
  }
}

/// The coefficients of elements i and after it.
template <bool SideBySide, class D>
HWY_INLINE Vector<D> coefficient(D d, const float* values, size_t i) {
  if constexpr (SideBySide)
    return hn::LoadU(d, values + i);
  else
    return hn::Set(d, *values);
}

// ---- Sums over the rows of a column. A term is a functor of (d, element number, first channel); it gives what is added.

/// Of 4 * Lanes(d) columns, as long as there are so many, then of fewer.
template <size_t Vectors, class D, class Term>
HWY_INLINE void sum_columns_of(D d, const ChannelBlock& block, size_t& c, const Term& term, float* sums) {
  for (; c + Vectors * hn::Lanes(d) <= block.n; c += Vectors * hn::Lanes(d)) {
    Vector<D> total[Vectors];
    for (size_t v = 0; v < Vectors; ++v) total[v] = hn::Zero(d);
    for (size_t row = 0; row < block.rows; ++row)
      for (size_t v = 0; v < Vectors; ++v) {
        const size_t at = c + v * hn::Lanes(d);
        total[v] = hn::Add(total[v], term(d, row * block.n + at, at));
      }
    for (size_t v = 0; v < Vectors; ++v) hn::StoreU(total[v], d, sums + c + v * hn::Lanes(d));
  }
}

template <class D, class Term>
HWY_INLINE void sum_last_columns(D d, const ChannelBlock& block, size_t c, const Term& term, float* sums) {
  sum_columns_of<1>(d, block, c, term, sums);
  if constexpr (hn::MaxLanes(D()) > 1) {
    if (c < block.n) sum_last_columns(hn::Half<D>(), block, c, term, sums);
  }
}

/// All elements in four sums of as many lanes.
template <class Term>
HWY_INLINE float sum_all(size_t n, const Term& term) {
  const Floats d;
  const size_t lanes = hn::Lanes(d);
  auto a = hn::Zero(d), b = hn::Zero(d), c = hn::Zero(d), e = hn::Zero(d);
  size_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    a = hn::Add(a, term(d, i, 0));
    b = hn::Add(b, term(d, i + lanes, 0));
    c = hn::Add(c, term(d, i + 2 * lanes, 0));
    e = hn::Add(e, term(d, i + 3 * lanes, 0));
  }
  for (; i + lanes <= n; i += lanes) a = hn::Add(a, term(d, i, 0));
  float total = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(a, b), hn::Add(c, e))));
  const hn::CappedTag<float, 1> one;
  for (; i < n; ++i) total += hn::GetLane(term(one, i, 0));
  return total;
}

template <bool SideBySide, class Term>
HWY_INLINE void sum(const ChannelBlock& block, const Term& term, float* sums) {
  if constexpr (SideBySide) {
    size_t c = 0;
    sum_columns_of<4>(Floats(), block, c, term, sums);
    sum_last_columns(Floats(), block, c, term, sums);
  } else {
    *sums = sum_all(block.rows * block.n, term);
  }
}

// ---- The loops

template <bool SideBySide>
void moments(const ChannelBlock& block, const float* x, float* mean, float* squares) {
  sum<SideBySide>(
      block, [&](auto d, size_t i, size_t) HWY_ATTR { return hn::LoadU(d, x + i); }, mean);
  const auto count = static_cast<float>(SideBySide ? block.rows : block.rows * block.n);
  for (size_t c = 0; c < (SideBySide ? block.n : 1); ++c) mean[c] /= count;
  sum<SideBySide>(
      block,
      [&](auto d, size_t i, size_t c) HWY_ATTR {
        const auto distance = hn::Sub(hn::LoadU(d, x + i), coefficient<SideBySide>(d, mean, c));
        return hn::Mul(distance, distance);
      },
      squares);
}

template <bool SideBySide>
void gradient_sums(const ChannelBlock& block, const float* dy, const float* x, const float* mean,
                   float* totals, float* products) {
  sum<SideBySide>(
      block, [&](auto d, size_t i, size_t) HWY_ATTR { return hn::LoadU(d, dy + i); }, totals);
  sum<SideBySide>(
      block,
      [&](auto d, size_t i, size_t c) HWY_ATTR {
        const auto distance = hn::Sub(hn::LoadU(d, x + i), coefficient<SideBySide>(d, mean, c));
        return hn::Mul(hn::LoadU(d, dy + i), distance);
      },
      products);
}

/// Calls step(d, element number, channel) for all elements.
template <bool SideBySide, class Step>
HWY_INLINE void for_elements(const ChannelBlock& block, const Step& step) {
  if constexpr (!SideBySide) {
    for_row(Floats(), 0, block.rows * block.n, [&](auto d, size_t i) HWY_ATTR { step(d, i, 0); });
  } else {
    for (size_t row = 0; row < block.rows; ++row)
      for_row(Floats(), 0, block.n, [&](auto d, size_t c) HWY_ATTR { step(d, row * block.n + c, c); });
  }
}

template <bool SideBySide>
void normalize(const ChannelBlock& block, const float* x, const float* mean, const float* factor,
               const float* offset, float* y) {
  for_elements<SideBySide>(block, [&](auto d, size_t i, size_t c) HWY_ATTR {
    const auto distance = hn::Sub(hn::LoadU(d, x + i), coefficient<SideBySide>(d, mean, c));
    hn::StoreU(
        hn::MulAdd(distance, coefficient<SideBySide>(d, factor, c), coefficient<SideBySide>(d, offset, c)), d,
        y + i);
  });
}

template <bool SideBySide>
void gradient(const ChannelBlock& block, const float* dy, const float* x, const float* mean,
              const float* by_gradient, const float* by_distance, const float* rest, float* dx) {
  for_elements<SideBySide>(block, [&](auto d, size_t i, size_t c) HWY_ATTR {
    const auto distance = hn::Sub(hn::LoadU(d, x + i), coefficient<SideBySide>(d, mean, c));
    const auto correction =
        hn::MulAdd(distance, coefficient<SideBySide>(d, by_distance, c), coefficient<SideBySide>(d, rest, c));
    hn::StoreU(hn::MulAdd(hn::LoadU(d, dy + i), coefficient<SideBySide>(d, by_gradient, c), correction), d,
               dx + i);
  });
}

template <bool SideBySide>
constexpr ChannelLoops loops = {moments<SideBySide>, gradient_sums<SideBySide>, normalize<SideBySide>,
                                gradient<SideBySide>};

const ChannelLoops* channel_loops_for(bool side_by_side) {
  return side_by_side ? &loops<true> : &loops<false>;
}

}  // namespace HWY_NAMESPACE
}  // namespace troupe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace troupe {

HWY_EXPORT(channel_loops_for);

const ChannelLoops& channel_loops(bool side_by_side) {
  return *HWY_DYNAMIC_DISPATCH(channel_loops_for)(side_by_side);
}

}  // namespace troupe
#endif
