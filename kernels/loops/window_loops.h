// What pooling computes along the points of windows, in the vector instructions of the processor at hand. Plain functions, any
// thread; an element is computed alike wherever it stands.
#pragma once

#include <cstddef>

#include "messages/values/dtype.h"

namespace troupe {

/// `lines` lines of `count` points, with n elements each for n neighbouring outputs. Element i of point p of line l stands at l *
/// line_step + p * step + i * stride. Points are met line by line.
struct WindowPoints {
  size_t lines, line_step, count, step, stride, n;
};

struct WindowLoops {
  /// best[i] becomes the greatest of itself and element i of every point of x. A NaN in x is passed over.
  void (*max)(const WindowPoints& points, const void* x, void* best);
  /// rest[i] is added to element i of `sums` at the first point where that of x equals best[i], and becomes 0; where there is
  /// none, it stays.
  void (*max_gradient)(const WindowPoints& points, const void* x, const void* best, void* rest, void* sums);
  /// total[i] += element i of every point of x, in their order. Null for integers.
  void (*sum)(const WindowPoints& points, const void* x, void* total);
  /// Element i of every point of `sums` += values[i]. Null for integers.
  void (*spread)(const WindowPoints& points, const void* values, void* sums);
};

/// dtype is float, double or an integer.
const WindowLoops& window_loops(DType dtype);

}  // namespace troupe
