#include "apps/report/axis.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace troupe::report {
namespace {

/// Returns the smallest of 1, 2 and 5 times a power of ten that is at least this large.
double round_step(double step) {
  const double power = std::pow(10, std::floor(std::log10(step)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (step <= factor * power * (1 + 1e-9)) return factor * power;
  return 10 * power;
}

}  // namespace

Axis::Axis(double low, double high, double from, double to, Scale scale)
    : low_(low), high_(high), from_(from), to_(to), scale_(scale) {
  assert(std::isfinite(low) && std::isfinite(high) && (scale == Scale::Linear || low > 0));
  if (low_ >= high_) {
    const double around = std::max(std::abs(low_) / 2, 1e-3);
    low_ = scale == Scale::Linear ? low_ - around : low_ / 2;
    high_ = scale == Scale::Linear ? high_ + around : high_ * 2;
  }
  if (scale == Scale::Linear)
    mark_linear();
  else
    mark_logarithmic();
}

void Axis::mark_linear() {
  constexpr double wanted = 5;
  // Halves, so that the difference of the largest numbers is finite.
  const double step = round_step(std::max((high_ / 2 - low_ / 2) / wanted * 2, 1e-300));
  const double first = std::floor(low_ / step + 1e-9), last = std::ceil(high_ / step - 1e-9);
  low_ = first * step;
  high_ = last * step;
  for (double i = first; i <= last && marks_.size() < 20; ++i) marks_.push_back(i * step);
}

void Axis::mark_logarithmic() {
  const bool few = std::log10(high_ / low_) < 2.5;
  for (double power = std::floor(std::log10(low_)); power <= std::ceil(std::log10(high_)); ++power)
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double mark = factor * std::pow(10, power);
      if ((factor == 1 || few) && mark >= low_ * 0.999 && mark <= high_ * 1.001) marks_.push_back(mark);
    }
  if (marks_.size() < 2) marks_ = {low_, high_};
}

double Axis::at(double value) const {
  const double share = scale_ == Scale::Linear ? (value / 2 - low_ / 2) / (high_ / 2 - low_ / 2)
                                               : std::log(value / low_) / std::log(high_ / low_);
  return from_ + share * (to_ - from_);
}

}  // namespace troupe::report
