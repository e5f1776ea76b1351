// Statistics of the columns of samples, computed in one pass over their batches. One thread at a time.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/data/dataset.h"

namespace troupe::data {

struct ColumnStatistics {
  std::string name;
  DType dtype = DType::Invalid;
  std::vector<int64_t> shape;  ///< of one sample
  int64_t elements = 0;        ///< of all samples
  bool is_ragged = false;
  /// For a ragged column: the fewest and the most elements of a sample; -1 before the first sample.
  int64_t shortest = -1, longest = -1;
  double least = 0, greatest = 0, mean = 0, deviation = 0;
  /// For whole numbers of rank 0 that are not ragged, such as labels: how many samples have each value. Not set: there are more
  /// than most_values.
  std::optional<std::map<int64_t, int64_t>> counts = {};
};

class Statistics {
 public:
  static constexpr size_t most_values = 1000;

  /// Begins with no samples of these columns, which must be numbers (float, double, int32 or int64).
  explicit Statistics(const Dataset& columns);
  void add(const Dataset& batch);
  /// Returns the statistics of all batches that were added.
  std::vector<ColumnStatistics> result() const;

 private:
  struct Sum {
    ColumnStatistics column;
    double squares = 0;  ///< of the differences from the mean
  };
  std::vector<Sum> sums_;
};

}  // namespace troupe::data
