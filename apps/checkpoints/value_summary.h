// What is said of the values of a variable, and of the difference of two. Pure functions; any thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "apps/checkpoints/stored_values.h"

namespace troupe::checkpoints {

struct ValueSummary {
  bool has_numbers = false;  ///< otherwise the values are no real numbers, and nothing else is known
  double least = 0, greatest = 0, mean = 0;  ///< of the finite numbers; 0 if there are none
  int64_t not_finite = 0;                    ///< how many are NaN or infinite
};

ValueSummary summarize(const Tensor& value);

struct Difference {
  std::string name;
  std::string what;  ///< such as "only in a"
  /// The greatest absolute difference of two elements; infinite if only one of them is a number.
  double greatest = 0;
};

/// Returns the variables that are not identical, by name.
std::vector<Difference> differences(const StoredValues& a, const StoredValues& b);

/// Returns the mean of the values of each variable of floating numbers; others are those of the last one. Fails with
/// InvalidArgument, naming the variable, if the checkpoints have other variables, dtypes or shapes.
Result<StoredValues> average(const std::vector<StoredValues>& all);

}  // namespace troupe::checkpoints
