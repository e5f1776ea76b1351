#include "apps/observe/loss_curve.h"

namespace troupe::observe {

void LossCurve::add(uint64_t step, double loss, uint64_t steps) {
  sum_ += loss * static_cast<double>(steps);
  count_ += steps;
  if (count_ < per_point_) return;
  points_.emplace_back(step, sum_ / static_cast<double>(count_));
  sum_ = 0;
  count_ = 0;
  if (points_.size() >= most_) halve();
}

void LossCurve::halve() {
  for (size_t i = 0; i + 1 < points_.size(); i += 2)
    points_[i / 2] = {points_[i + 1].first, (points_[i].second + points_[i + 1].second) / 2};
  points_.resize(points_.size() / 2);
  per_point_ *= 2;
}

}  // namespace troupe::observe
