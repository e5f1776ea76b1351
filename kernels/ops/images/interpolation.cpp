#include "kernels/ops/images/interpolation.h"

#include <hwy/highway.h>

namespace troupe {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using FourFloats = hn::FixedTag<float, 4>;

hn::VFromD<FourFloats> four(const float* from) { return hn::LoadU(FourFloats(), from); }
hn::VFromD<FourFloats> four(const uint8_t* from) {
  const hn::FixedTag<int32_t, 4> wide;
  const hn::FixedTag<uint8_t, 4> narrow;
  return hn::ConvertTo(FourFloats(), hn::PromoteTo(wide, hn::LoadU(narrow, from)));
}

/// Interpolates four neighbouring elements at once.
template <class T>
void interpolate_four(const T* top, const T* bottom, const Between& x, float part, float* to) {
  const auto mix = [](auto a, auto b, auto weight) { return hn::Add(a, hn::Mul(hn::Sub(b, a), weight)); };
  const auto across = hn::Set(FourFloats(), x.part);
  const auto above = mix(four(top + x.lower), four(top + x.upper), across);
  const auto below = mix(four(bottom + x.lower), four(bottom + x.upper), across);
  hn::StoreU(mix(above, below, hn::Set(FourFloats(), part)), FourFloats(), to);
}

template <class T>
void interpolate(const T* top, const T* bottom, const Between& x, float part, int64_t channels, float* to) {
  const auto at = [](const T* row, int64_t i) { return static_cast<float>(row[i]); };
  for (int64_t c = 0; c < channels; ++c) {
    const int64_t left = x.lower + c, right = x.upper + c;
    to[c] = FourPixels{at(top, left), at(top, right), at(bottom, left), at(bottom, right)}.at(x.part, part);
  }
}

}  // namespace

void RowPlaces::allow_fast(int64_t row) {
  fast = 0;
  if (channels != 3 && channels != 4) return;
  const auto fits = [&](const Between& x) { return x.lower + 4 <= row && x.upper + 4 <= row; };
  while (fast + 1 < pixels.size() && fits(pixels[fast])) ++fast;
}

template <class T>
void interpolate_row(const T* top, const T* bottom, const RowPlaces& places, float part, float* to) {
  size_t x = 0;
  const int64_t channels = places.channels;
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, uint8_t>)
    for (; x < places.fast; ++x, to += channels) interpolate_four(top, bottom, places.pixels[x], part, to);
  for (; x < places.pixels.size(); ++x, to += channels)
    interpolate(top, bottom, places.pixels[x], part, channels, to);
}

template void interpolate_row(const float*, const float*, const RowPlaces&, float, float*);
template void interpolate_row(const double*, const double*, const RowPlaces&, float, float*);
template void interpolate_row(const Half*, const Half*, const RowPlaces&, float, float*);
template void interpolate_row(const BFloat16*, const BFloat16*, const RowPlaces&, float, float*);
template void interpolate_row(const uint8_t*, const uint8_t*, const RowPlaces&, float, float*);
template void interpolate_row(const int8_t*, const int8_t*, const RowPlaces&, float, float*);
template void interpolate_row(const uint16_t*, const uint16_t*, const RowPlaces&, float, float*);
template void interpolate_row(const int16_t*, const int16_t*, const RowPlaces&, float, float*);
template void interpolate_row(const int32_t*, const int32_t*, const RowPlaces&, float, float*);
template void interpolate_row(const int64_t*, const int64_t*, const RowPlaces&, float, float*);

}  // namespace troupe
