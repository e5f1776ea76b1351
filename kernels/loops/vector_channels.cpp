#include "kernels/loops/channel_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/loops/vector_channels.cpp"
#include <hwy/foreach_target.h>

#include "kernels/loops/vector_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace troupe {
namespace HWY_NAMESPACE {

using Floats = hn::ScalableTag<float>;

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

template <bool SideBySide, class Term>
HWY_INLINE void sum(const ChannelBlock& block, const Term& term, float* sums) {
  if constexpr (SideBySide) {
    size_t c = 0;
    sum_columns_of<4>(Floats(), block, c, term, sums);
    sum_last_columns(Floats(), block, c, term, sums);
  } else {
    *sums = sum_row<float>(block.rows * block.n, [&](auto d, size_t i) HWY_ATTR { return term(d, i, 0); });
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
