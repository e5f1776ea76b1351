// NumPy broadcasting at run time: a walk over the output that gives the offsets of two or three inputs ("sides"). Neighbouring
// axes that broadcast alike are merged, so that most walks are one or two axes deep. A plain value, on the stack for up to
// eight merged axes; const functions may be called by any thread.
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "kernels/core/dims.h"
#include "messages/values/shape.h"

namespace troupe {

template <size_t Sides>
class Broadcast {
 public:
  /// One offset or step for each side, in elements.
  using Offsets = std::array<size_t, Sides>;
  struct Axis {
    size_t size = 1;
    Offsets steps{};  ///< 0 for a side that repeats along this axis
  };

  /// Fails with InvalidArgument if two dimensions differ and neither is 1, or if the output would be too large.
  static Result<Broadcast> make(const std::array<std::span<const int64_t>, Sides>& sides, DType output);

  const Shape& shape() const { return shape_; }
  /// Returns the merged axes, outermost first; at least one.
  std::span<const Axis> axes() const { return {axes_.data(), axes_.size()}; }
  /// Returns the last axis, which is one run of the inner loop. Its steps are 0 or 1.
  const Axis& inner() const { return axes_.back(); }

  /// Calls run(offsets of the sides, offset of the output, elements) for every run of elements in [begin, end) of the output.
  template <class Run>
  void walk(size_t begin, size_t end, Run&& run) const {
    if (begin == end) return;
    const Axis& line = inner();
    size_t row = begin / line.size, column = begin % line.size;
    while (begin < end) {
      Offsets offsets = start_of(row++);
      for (size_t side = 0; side < Sides; ++side) offsets[side] += column * line.steps[side];
      const size_t n = std::min(line.size - column, end - begin);
      run(offsets, begin, n);
      begin += n;
      column = 0;
    }
  }

 private:
  /// Returns the offsets at which row `row` of the output starts in each side.
  Offsets start_of(size_t row) const {
    Offsets offsets{};
    for (size_t i = axes_.size() - 1; i-- > 0;) {
      const Axis& axis = axes_[i];
      for (size_t side = 0; side < Sides; ++side) offsets[side] += row % axis.size * axis.steps[side];
      row /= axis.size;
    }
    return offsets;
  }

  Shape shape_;
  ShortList<Axis> axes_;  ///< outermost first; at least one
};

}  // namespace troupe
