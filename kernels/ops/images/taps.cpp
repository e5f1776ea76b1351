#include "kernels/ops/images/taps.h"

#include <hwy/highway.h>

#include <algorithm>

#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"

namespace troupe {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// Elements of a row that some pixel of the output needs.
struct Span {
  int64_t begin, end;
};

std::vector<Span> needed(const Taps& columns, int64_t channels) {
  std::vector<int64_t> pixels = columns.pixels;
  if (!std::ranges::is_sorted(pixels)) std::ranges::sort(pixels);
  std::vector<Span> spans;
  for (const int64_t pixel : pixels) {
    const int64_t begin = pixel * channels;
    if (spans.empty() || begin > spans.back().end)
      spans.push_back({begin, begin + channels});
    else
      spans.back().end = begin + channels;
  }
  return spans;
}

/// sums[i] (+)= the weighted sum of element i of n rows.
template <size_t n, class T, class Sum>
void sum_rows(const T* const* rows, const float* weights, const Span& span, bool adds, Sum* sums) {
  for (int64_t i = span.begin; i < span.end; ++i) {
    Sum sum = static_cast<Sum>(rows[0][i]) * static_cast<Sum>(weights[0]);
    if constexpr (n > 1) sum += static_cast<Sum>(rows[1][i]) * static_cast<Sum>(weights[1]);
    if constexpr (n > 2) sum += static_cast<Sum>(rows[2][i]) * static_cast<Sum>(weights[2]);
    if constexpr (n > 3) sum += static_cast<Sum>(rows[3][i]) * static_cast<Sum>(weights[3]);
    sums[i] = adds ? sums[i] + sum : sum;
  }
}

/// sums[i] = the weighted sum of element i of the rows. At most four rows are read at once.
template <class T, class Sum>
void sum_rows(const std::vector<const T*>& rows, const float* weights, const Span& span, Sum* sums) {
  for (size_t i = 0; i < rows.size(); i += 4) {
    const T* const* const some = rows.data() + i;
    switch (std::min<size_t>(rows.size() - i, 4)) {
      case 1: sum_rows<1>(some, weights + i, span, i != 0, sums); break;
      case 2: sum_rows<2>(some, weights + i, span, i != 0, sums); break;
      case 3: sum_rows<3>(some, weights + i, span, i != 0, sums); break;
      default: sum_rows<4>(some, weights + i, span, i != 0, sums);
    }
  }
  if (rows.empty()) std::fill(sums + span.begin, sums + span.end, Sum{0});
}

/// Four floats at once, for pixels of three or four channels. `sums` and `to` have room for four elements from each pixel on.
void sum_pixel(const float* sums, const Taps& columns, size_t x, int64_t channels, float scale, float* to) {
  const hn::FixedTag<float, 4> d;
  auto sum = hn::Zero(d);
  for (size_t tap = columns.ends[x]; tap < columns.ends[x + 1]; ++tap)
    sum = hn::Add(
        sum, hn::Mul(hn::LoadU(d, sums + columns.pixels[tap] * channels), hn::Set(d, columns.weights[tap])));
  hn::StoreU(hn::Mul(sum, hn::Set(d, scale)), d, to);
}

template <class Sum, class T>
void sum_any_pixel(const Sum* sums, const Taps& columns, size_t x, int64_t channels, float scale, T* to) {
  for (int64_t c = 0; c < channels; ++c) {
    Sum sum{0};
    for (size_t tap = columns.ends[x]; tap < columns.ends[x + 1]; ++tap)
      sum += sums[columns.pixels[tap] * channels + c] * static_cast<Sum>(columns.weights[tap]);
    to[c] = static_cast<T>(sum * static_cast<Sum>(scale));
  }
}

template <class Sum, class T>
void sum_columns(const Sum* sums, const Taps& columns, int64_t channels, float scale, T* to) {
  size_t x = 0;
  if constexpr (std::is_same_v<Sum, float> && std::is_same_v<T, float>)
    if (channels == 3 || channels == 4)
      for (; x + 1 < columns.size(); ++x, to += channels) sum_pixel(sums, columns, x, channels, scale, to);
  for (; x < columns.size(); ++x, to += channels) sum_any_pixel(sums, columns, x, channels, scale, to);
}

template <class From, class To>
void sum_images(const TapsArguments& arguments, Pool& pool) {
  using Sum = ComputeType<To>;
  const ResizeArguments& sizes = arguments.images;
  const Taps &rows = arguments.rows, &columns = arguments.columns;
  const auto from = sizes.images.shape().dims(), to = sizes.output.shape().dims();
  const int64_t channels = from[3], row = from[2] * channels, height = to[1];
  const From* const images = reinterpret_cast<const From*>(sizes.images.data());
  To* const output = reinterpret_cast<To*>(sizes.output.mutable_data());
  const std::vector<Span> spans = needed(columns, channels);
  const size_t row_taps = rows.pixels.size() / std::max<size_t>(rows.size(), 1) + 1;
  const size_t cost = static_cast<size_t>(row) * row_taps * sizeof(float) +
                      columns.pixels.size() * static_cast<size_t>(channels) * sizeof(float);
  parallel_rows(pool, static_cast<size_t>(to[0] * height), cost, [&](size_t begin, size_t end) {
    std::vector<Sum> sums(static_cast<size_t>(row) + 4);
    std::vector<const From*> taken;
    for (auto r = static_cast<int64_t>(begin); r < static_cast<int64_t>(end); ++r) {
      const size_t y = static_cast<size_t>(r % height), first = rows.ends[y];
      taken.clear();
      for (size_t tap = first; tap < rows.ends[y + 1]; ++tap)
        taken.push_back(images + (r / height * from[1] + rows.pixels[tap]) * row);
      for (const Span& span : spans) sum_rows(taken, rows.weights.data() + first, span, sums.data());
      sum_columns(sums.data(), columns, channels, arguments.scale, output + r * to[2] * channels);
    }
  });
}

}  // namespace

Taps transposed(const Taps& taps, int64_t size) {
  Taps result;
  result.ends.assign(static_cast<size_t>(size) + 1, 0);
  for (const int64_t pixel : taps.pixels) ++result.ends[static_cast<size_t>(pixel) + 1];
  for (size_t i = 1; i < result.ends.size(); ++i) result.ends[i] += result.ends[i - 1];
  result.pixels.resize(taps.pixels.size());
  result.weights.resize(taps.pixels.size());
  std::vector<size_t> at(result.ends.begin(), result.ends.end() - 1);
  for (size_t i = 0; i < taps.size(); ++i)
    for (size_t tap = taps.ends[i]; tap < taps.ends[i + 1]; ++tap) {
      const size_t to = at[static_cast<size_t>(taps.pixels[tap])]++;
      result.pixels[to] = static_cast<int64_t>(i);
      result.weights[to] = taps.weights[tap];
    }
  return result;
}

TapsArguments TapsArguments::of(const ResizeArguments& images, TapsOf taps_of) {
  if (images.output.elements() == 0) return {images, {}, {}};  // though it may be very wide
  return {images, taps_of(images.rows), taps_of(images.columns)};
}

TapsArguments TapsArguments::of_gradient(const ResizeArguments& images, TapsOf taps_of) {
  if (images.output.elements() == 0) return {images, {}, {}};
  const Sampling &rows = images.rows, &columns = images.columns;
  return {images, transposed(taps_of(rows), rows.original), transposed(taps_of(columns), columns.original)};
}

void sum_taps(const TapsArguments& arguments, DeviceContext& device) {
  const auto& [images, output, rows, columns] = arguments.images;
  if (output.elements() == 0) return;
  if (output.dtype() != DType::Float) {  // the gradient by narrow floats or doubles
    with_type(AllFloatTypes{}, output.dtype(),
              [&]<class T>(std::type_identity<T>) { sum_images<float, T>(arguments, device.pool()); });
    return;
  }
  with_type(ResizedTypes{}, images.dtype(),
            [&]<class T>(std::type_identity<T>) { sum_images<T, float>(arguments, device.pool()); });
}

}  // namespace troupe
