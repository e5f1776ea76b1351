// LossCurve: the losses of all steps of a run as a bounded number of points, each the mean of the same number of steps. When there
// are too many points, two each become one. Plain value; one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace troupe::observe {

class LossCurve {
 public:
  /// `most`: how many points there may be; even.
  explicit LossCurve(size_t most = 400) : most_(most) {}

  /// Adds the loss of `steps` steps, the last of which is `step`.
  void add(uint64_t step, double loss, uint64_t steps = 1);
  /// Returns (last step, mean loss) for each point.
  const std::vector<std::pair<uint64_t, double>>& points() const { return points_; }

 private:
  void halve();

  size_t most_;
  uint64_t per_point_ = 1;
  double sum_ = 0;  ///< of the steps that are no point yet
  uint64_t count_ = 0;
  std::vector<std::pair<uint64_t, double>> points_;
};

}  // namespace troupe::observe
