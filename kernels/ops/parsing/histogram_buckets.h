// The histogram of a summary: TensorFlow's default buckets, whose limits grow by a tenth from 1e-12 to 1e20 on either side of 0. A
// plain value; one thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace troupe {

class HistogramBuckets {
 public:
  HistogramBuckets();
  /// Adds a finite value.
  void add(double value);
  /// Returns a HistogramProto in binary form.
  std::string proto() const;

 private:
  double least_, greatest_;
  double number_ = 0, sum_ = 0, squares_ = 0;
  std::vector<double> counts_;
};

}  // namespace troupe
