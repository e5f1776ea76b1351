// Axis: the scale of a chart along one dimension, with the values at its marks. Immutable; any thread.
#pragma once

#include <vector>

namespace troupe::report {

class Axis {
 public:
  enum class Scale : unsigned char { Linear, Logarithmic };
  /// Makes an axis for the values from `low` to `high`, which lie between two positions in pixels. A linear one begins and ends at
  /// marks. The values must be finite, those of a logarithmic axis positive (asserted).
  Axis(double low, double high, double from, double to, Scale scale = Scale::Linear);

  /// Returns the position of a value, in pixels.
  double at(double value) const;
  double low() const { return low_; }
  double high() const { return high_; }
  /// Returns the values at the marks, in increasing order: two or more.
  const std::vector<double>& marks() const { return marks_; }

 private:
  void mark_linear();
  void mark_logarithmic();

  double low_, high_, from_, to_;
  Scale scale_;
  std::vector<double> marks_;
};

}  // namespace troupe::report
