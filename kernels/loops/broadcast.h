// NumPy broadcasting at run time: two or three shapes as one walk over the output. Neighbouring axes that broadcast
// alike are merged, so that most walks are one or two axes deep. Plain values on the stack (up to eight merged
// axes); one thread.
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
  /// An offset, or a step, for each side, in elements.
  using Offsets = std::array<size_t, Sides>;
  struct Axis {
    size_t size = 1;
    Offsets steps{};  ///< 0 where that side repeats
  };

  /// InvalidArgument when two dims differ and neither is 1, or the output would be too large.
  static Result<Broadcast> make(const std::array<std::span<const int64_t>, Sides>& sides, DType output);

  const Shape& shape() const { return shape_; }
  /// The last axis: one run of the inner loop. Its steps are 0 or 1.
  const Axis& inner() const { return axes_.back(); }

  /// Calls run(offsets of the sides, offset of the output, elements) for every piece of a line in [begin, end) of
  /// the output.
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
  /// Where row `row` of the output starts in each side.
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
