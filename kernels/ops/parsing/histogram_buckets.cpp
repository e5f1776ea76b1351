#include "kernels/ops/parsing/histogram_buckets.h"

#include <algorithm>
#include <array>
#include <cfloat>

#include "messages/protobuf/fields.h"

namespace troupe {
namespace {

constexpr double first_limit = 1e-12, last_limit = 1e20, growth = 1.1;

constexpr size_t count_limits() {
  size_t count = 1;  // the greatest double
  for (double limit = first_limit; limit < last_limit; limit *= growth) ++count;
  return count;
}

/// The upper limits of the buckets, in ascending order: the negative ones, 0, the positive ones. A limit itself is in the next.
constexpr auto limits = [] {
  constexpr size_t side = count_limits();
  std::array<double, 2 * side + 1> result{};
  double limit = first_limit;
  for (size_t i = 0; i < side; ++i, limit *= growth) {
    const double last = i + 1 == side ? DBL_MAX : limit;
    result[side + 1 + i] = last;
    result[side - 1 - i] = -last;
  }
  return result;
}();

/// Protocol buffers leave out numbers whose bits are 0.
void append_unless_zero(std::string& message, uint32_t number, double value) {
  if (std::bit_cast<uint64_t>(value) != 0) protobuf::append_fixed_field(message, number, value);
}

void append_packed(std::string& message, uint32_t number, const std::vector<double>& values) {
  protobuf::append_bytes_field(
      message, number, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)});
}

}  // namespace

HistogramBuckets::HistogramBuckets() : least_(DBL_MAX), greatest_(-DBL_MAX), counts_(limits.size()) {}

void HistogramBuckets::add(double value) {
  const auto bucket = static_cast<size_t>(std::ranges::upper_bound(limits, value) - limits.begin());
  counts_[std::min(bucket, limits.size() - 1)] += 1;  // the greatest double itself is in the last bucket
  least_ = std::min(least_, value);
  greatest_ = std::max(greatest_, value);
  number_ += 1;
  sum_ += value;
  squares_ += value * value;
}

std::string HistogramBuckets::proto() const {
  std::vector<double> ends, counts;
  for (size_t i = 0; i < counts_.size(); ++i) {
    if (i > 0 && counts_[i] == 0 && counts_[i - 1] == 0) {
      ends.back() = limits[i];  // one bucket with that before it
      continue;
    }
    ends.push_back(limits[i]);
    counts.push_back(counts_[i]);
  }
  std::string message;
  append_unless_zero(message, 1, least_);
  append_unless_zero(message, 2, greatest_);
  append_unless_zero(message, 3, number_);
  append_unless_zero(message, 4, sum_);
  append_unless_zero(message, 5, squares_);
  append_packed(message, 6, ends);
  append_packed(message, 7, counts);
  return message;
}

}  // namespace troupe
