#include "apps/checkpoints/value_summary.h"

#include <cmath>
#include <limits>

#include "apps/data/numbers.h"
#include "kernels/core/type_dispatch.h"

namespace troupe::checkpoints {
namespace {

double greatest_difference(const Tensor& a, const Tensor& b) {
  const auto left = data::numbers_of(a), right = data::numbers_of(b);
  if (!left || !right) return std::numeric_limits<double>::infinity();
  double greatest = 0;
  for (size_t i = 0; i < left->size(); ++i) {
    const double x = (*left)[i], y = (*right)[i];
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    const double difference = std::abs(x - y);
    greatest =
        std::isnan(difference) ? std::numeric_limits<double>::infinity() : std::max(greatest, difference);
  }
  return greatest;
}

}  // namespace

ValueSummary summarize(const Tensor& value) {
  const auto numbers = data::numbers_of(value);
  if (!numbers) return {};
  ValueSummary summary{.has_numbers = true};
  int64_t finite = 0;
  for (const double number : *numbers) {
    if (!std::isfinite(number)) {
      ++summary.not_finite;
      continue;
    }
    summary.least = finite == 0 ? number : std::min(summary.least, number);
    summary.greatest = finite == 0 ? number : std::max(summary.greatest, number);
    summary.mean += (number - summary.mean) / static_cast<double>(++finite);
  }
  return summary;
}

std::vector<Difference> differences(const StoredValues& a, const StoredValues& b) {
  std::vector<Difference> found;
  for (const auto& [name, value] : a.values) {
    const auto other = b.values.find(name);
    if (other == b.values.end())
      found.push_back({name, "only in " + a.source});
    else if (value.signature() != other->second.signature())
      found.push_back({name, value.signature() + " and " + other->second.signature()});
    else if (!identical(value, other->second))
      found.push_back({name, value.signature(), greatest_difference(value, other->second)});
  }
  for (const auto& [name, value] : b.values)
    if (!a.values.contains(name)) found.push_back({name, "only in " + b.source});
  return found;
}

Result<StoredValues> average(const std::vector<StoredValues>& all) {
  StoredValues result = all.back();
  for (auto& [name, value] : result.values) {
    std::vector<const Tensor*> terms;
    for (const StoredValues& one : all) {
      const auto found = one.values.find(name);
      if (found == one.values.end() || found->second.signature() != value.signature() ||
          one.values.size() != result.values.size())
        return invalid_argument(one.source + " and " + result.source + " have other variables: " + name +
                                " is " + value.signature() + " in the last one" +
                                (found == one.values.end()
                                     ? ", and is not in the other"
                                     : ", and " + found->second.signature() + " in the other"));
      terms.push_back(&found->second);
    }
    if (!is_floating(value.dtype())) continue;
    TROUPE_ASSIGN(Tensor mean, Tensor::allocate(value.dtype(), value.shape()));
    with_type(AllFloatTypes{}, value.dtype(), [&]<class T>(std::type_identity<T>) {
      const auto to = mean.write<T>();
      for (size_t i = 0; i < to.size(); ++i) {
        double sum = 0;
        for (const Tensor* const term : terms)
          sum += static_cast<double>(static_cast<ComputeType<T>>(term->as<T>()[i]));
        to[i] = static_cast<T>(static_cast<ComputeType<T>>(sum / static_cast<double>(terms.size())));
      }
    });
    value = std::move(mean);
  }
  return result;
}

}  // namespace troupe::checkpoints
