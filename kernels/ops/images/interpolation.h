// Pixels that are interpolated between two by two pixels of an image. Pure functions; any thread may call them.
#pragma once

#include <cmath>
#include <vector>

#include "kernels/core/type_dispatch.h"
#include "kernels/gpu/any.h"

namespace troupe {

/// A place between two neighbouring pixels, or on one.
struct Between {
  int64_t lower = 0, upper = 0;
  float part = 0;  ///< of the way from the lower one to the upper one
};

/// Returns where a position lies, which must be that of a pixel or between two.
TROUPE_ANY inline Between between(float place) {
  const float whole = std::floor(place);
  return {static_cast<int64_t>(whole), static_cast<int64_t>(std::ceil(place)), place - whole};
}

/// Two by two pixels, between which one lies.
struct FourPixels {
  float top_left, top_right, bottom_left, bottom_right;

  /// Returns the interpolated pixel at a place, `x` and `y` of the way to the right and to the bottom.
  TROUPE_ANY float at(float x, float y) const {
    const float above = top_left + (top_right - top_left) * x;
    const float below = bottom_left + (bottom_right - bottom_left) * x;
    return above + (below - above) * y;
  }
  /// Return the slopes there.
  TROUPE_ANY float slope_y(float x) const {
    return (1 - x) * (bottom_left - top_left) + x * (bottom_right - top_right);
  }
  TROUPE_ANY float slope_x(float y) const {
    return (1 - y) * (top_right - top_left) + y * (bottom_right - bottom_left);
  }
};

/// A row of an image, from which pixels at given places are taken.
struct RowPlaces {
  std::vector<Between> pixels;  ///< in elements of the row: pixel times channels
  int64_t channels = 0;
  size_t fast = 0;  ///< so many of the first pixels may be read and written four elements at a time

  /// Sets `fast` for rows of this many elements. Four elements from there on must be in the row, and the next pixel is written
  /// afterwards.
  void allow_fast(int64_t row);
};

/// Writes the pixels interpolated between two rows, `part` of the way from the top to the bottom. Instantiated for all real types.
template <class T>
void interpolate_row(const T* top, const T* bottom, const RowPlaces& places, float part, float* to);

}  // namespace troupe
