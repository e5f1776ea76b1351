// NumPy broadcasting at run time: two shapes as one walk over the output. Neighbouring axes that broadcast
// alike are merged, so that most walks are one or two axes deep. Plain values on the stack (up to six merged
// axes); one thread.
#pragma once

#include <algorithm>
#include <utility>

#include "kernels/dims.h"
#include "messages/shape.h"

namespace troupe {

class Broadcast {
 public:
  struct Axis {
    size_t size = 1;
    size_t step_a = 0, step_b = 0;  ///< in elements; 0 where that side repeats
  };

  /// InvalidArgument when two dims differ and neither is 1, or the output would be too large.
  static Result<Broadcast> make(const Shape& a, const Shape& b, DType output);

  const Shape& shape() const { return shape_; }
  /// The last axis: one run of the inner loop. Its steps are 0 or 1.
  const Axis& inner() const { return axes_.back(); }

  /// Calls run(offset of a, offset of b, offset of the output, elements) for every piece of a line in [begin,
  /// end) of the output.
  template <class Run>
  void walk(size_t begin, size_t end, Run&& run) const {
    const Axis& line = inner();
    size_t row = begin / line.size, column = begin % line.size;
    while (begin < end) {
      const auto [a, b] = start_of(row++);
      const size_t n = std::min(line.size - column, end - begin);
      run(a + column * line.step_a, b + column * line.step_b, begin, n);
      begin += n;
      column = 0;
    }
  }

 private:
  /// Where row `row` of the output starts in a and in b.
  std::pair<size_t, size_t> start_of(size_t row) const {
    size_t a = 0, b = 0;
    for (size_t i = axes_.size() - 1; i-- > 0;) {
      const Axis& axis = axes_[i];
      a += row % axis.size * axis.step_a;
      b += row % axis.size * axis.step_b;
      row /= axis.size;
    }
    return {a, b};
  }

  Shape shape_;
  ShortList<Axis> axes_;  ///< outermost first; at least one
};

}  // namespace troupe
