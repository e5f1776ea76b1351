// Windows that move over images on GPUs: which elements an output covers, and which outputs cover an element. Plain values that
// kernels get as parameters; any thread may use them.
#pragma once

#include <initializer_list>

#include "kernels/gpu/images.h"
#include "kernels/gpu/map.h"
#include "kernels/ops/nn/pooling.h"

namespace troupe::gpu {

/// Numbers begin, begin + 1, ... below end.
struct Span {
  int64_t begin, end;
  TROUPE_ANY int64_t size() const { return end > begin ? end - begin : 0; }
};

/// The windows along one dimension.
struct PoolAxis {
  int64_t size, window, pad, output;
  Divider stride;

  /// Returns how many elements an output covers at most.
  TROUPE_ANY int64_t most_covered() const { return window < size ? window : size; }
  /// Returns the elements that output i covers, without padding.
  TROUPE_ANY Span covered(int64_t i) const {
    const int64_t first = i * static_cast<int64_t>(stride.divisor()) - pad;
    return {first > 0 ? first : 0, window >= size - first ? size : first + window};
  }
  /// Returns the outputs that cover an element.
  TROUPE_ANY Span covering(int64_t i) const {
    const int64_t last = i + pad, before = last - window;  // the windows that begin in (before, last]
    const int64_t begin =
        before < 0 ? 0 : static_cast<int64_t>(stride.quotient(static_cast<size_t>(before))) + 1;
    const int64_t end = static_cast<int64_t>(stride.quotient(static_cast<size_t>(last))) + 1;
    return {begin, end < output ? end : output};
  }
};

struct PoolShape {
  PoolAxis axes[3];
  ImageShape input, output;

  /// An element of the images is a pack of `width` channels.
  explicit PoolShape(const Pooling& pooling, size_t width = 1) {
    const auto& windows = pooling.windows;
    for (size_t i = 0; i < 3; ++i)
      axes[i] = {windows[i].size, windows[i].window, windows[i].pad_before, windows[i].output,
                 Divider(static_cast<size_t>(windows[i].stride))};
    const int64_t channels = pooling.channels / static_cast<int64_t>(width);
    input = ImageShape(pooling.batch, channels, {windows[0].size, windows[1].size, windows[2].size},
                       pooling.channels_last);
    output = ImageShape(pooling.batch, channels, {windows[0].output, windows[1].output, windows[2].output},
                        pooling.channels_last);
  }

  /// Calls visit(element, place in the image) for the elements that an output covers, in their order.
  template <class Visit>
  TROUPE_ANY void for_covered(const Place& place, const Visit& visit) const {
    const Span z = axes[0].covered(place.at[0]), y = axes[1].covered(place.at[1]),
               x = axes[2].covered(place.at[2]);
    visit_all(input, place, z, y, x, visit);
  }
  /// Calls visit(output, place in the image) for the outputs that cover an element, in their order.
  template <class Visit>
  TROUPE_ANY void for_covering(const Place& place, const Visit& visit) const {
    const Span z = axes[0].covering(place.at[0]), y = axes[1].covering(place.at[1]),
               x = axes[2].covering(place.at[2]);
    visit_all(output, place, z, y, x, visit);
  }
  /// Returns a number for each element that an output covers, below most_covered().
  TROUPE_ANY uint32_t number(const int (&output_at)[3], const int (&at)[3]) const {
    int64_t number = 0;
    for (int axis = 0; axis < 3; ++axis)
      number = number * axes[axis].most_covered() + at[axis] - axes[axis].covered(output_at[axis]).begin;
    return static_cast<uint32_t>(number);
  }
  /// How many elements an output covers at most.
  int64_t most_covered() const {
    return axes[0].most_covered() * axes[1].most_covered() * axes[2].most_covered();
  }
  /// How many elements the output at a place covers.
  TROUPE_ANY int64_t count(const int (&at)[3]) const {
    return axes[0].covered(at[0]).size() * axes[1].covered(at[1]).size() * axes[2].covered(at[2]).size();
  }

 private:
  template <class Visit>
  TROUPE_ANY static void visit_all(const ImageShape& shape, const Place& place, Span z, Span y, Span x,
                                   const Visit& visit) {
    int at[3];
    for (at[0] = static_cast<int>(z.begin); at[0] < z.end; ++at[0])
      for (at[1] = static_cast<int>(y.begin); at[1] < y.end; ++at[1])
        for (at[2] = static_cast<int>(x.begin); at[2] < x.end; ++at[2])
          visit(shape.index(place.image, place.channel, at), at);
  }
};

/// Returns f(std::integral_constant<size_t, N>{}), a Status, for the number N of neighbouring channels that a call computes
/// together: packs of sixteen bytes if the images at these addresses have such.
template <class T, class F>
Status with_channels(const Pooling& pooling, std::initializer_list<const void*> addresses, const F& f) {
  constexpr size_t width = 16 / sizeof(T);
  if (pooling.channels_last && pooling.channels % static_cast<int64_t>(width) == 0 &&
      std::ranges::all_of(addresses, [](const void* address) { return is_aligned(address, 16); }))
    return f(std::integral_constant<size_t, width>{});
  return f(std::integral_constant<size_t, 1>{});
}

}  // namespace troupe::gpu
