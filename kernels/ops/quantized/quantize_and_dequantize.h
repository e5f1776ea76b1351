// QuantizeAndDequantize and its versions: the check on the host, the arguments that it returns to the compute function of each type
// of device (kernels/core/checked_kernel.h), and the arithmetic that the devices share. Any thread may call the check.
#pragma once

#include <cmath>
#include <limits>

#include "kernels/core/checked_kernel.h"
#include "kernels/gpu/any.h"

namespace troupe {

struct RoundingArguments {
  const Tensor& input;
  const Tensor *min, *max;  ///< null where attributes have the range, or the input has it
  Tensor& output;
  size_t ranges, inner;  ///< the input as [outer, ranges, inner]
  bool given;
  float low, high;         ///< the range of the attributes
  double lowest, highest;  ///< the steps
  bool up;                 ///< whether halves are rounded up
};

/// Fails with InvalidArgument for a number of bits, an axis or shapes of ranges that are not allowed.
Result<RoundingArguments> check_rounding(KernelContext& context);

/// A range of elements. Without elements its minimum is above its maximum.
template <class T>
struct ElementRange {
  T min = std::numeric_limits<T>::max(), max = std::numeric_limits<T>::lowest();
};
/// The range of two ranges, without NaN.
template <class T>
struct JoinRanges {
  TROUPE_ANY ElementRange<T> neutral() const { return {}; }
  TROUPE_ANY ElementRange<T> operator()(const ElementRange<T>& a, const ElementRange<T>& b) const {
    return {b.min < a.min ? b.min : a.min, b.max > a.max ? b.max : a.max};
  }
};

/// How the elements of one range are rounded. T is float or double.
template <class T>
struct Rounding {
  T min, max, scale, inverse;

  /// The range becomes the greatest one of which 0 is a step and whose ends the steps reach.
  TROUPE_ANY Rounding(T low, T high, double lowest, double highest) : min(low), max(high) {
    const auto steps_below = static_cast<T>(lowest), steps_above = static_cast<T>(highest);
    const T below = scale_of(steps_below, min), above = scale_of(steps_above, max);
    if (below < above) {
      scale = below;
      inverse = min / steps_below;
      max = steps_above * inverse;
    } else {
      scale = above;
      inverse = max / steps_above;
      min = steps_below * inverse;
    }
  }
  /// `clamps` says whether x is brought into the range first, and `up` whether halves are rounded up.
  TROUPE_ANY T operator()(T x, bool clamps, bool up) const {
    const T scaled = (!clamps ? x : x < min ? min : x > max ? max : x) * scale;
    return (up ? std::floor(scaled + T{0.5}) : std::rint(scaled)) * inverse;
  }

 private:
  TROUPE_ANY static T scale_of(T steps, T end) {
    return steps * end > 0 ? steps / end : std::numeric_limits<T>::max();
  }
};

}  // namespace troupe
