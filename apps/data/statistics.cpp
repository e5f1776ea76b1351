#include "apps/data/statistics.h"

#include <algorithm>
#include <cmath>

#include "kernels/core/type_dispatch.h"

namespace troupe::data {
namespace {

using Numbers = TypeList<float, double, int32_t, int64_t>;

template <class T>
void count(std::span<const T> values, std::optional<std::map<int64_t, int64_t>>& counts) {
  for (const T value : values) {
    if (!counts) return;
    ++(*counts)[static_cast<int64_t>(value)];
    if (counts->size() > Statistics::most_values) counts.reset();
  }
}

/// Adds the lengths of rows to the extremes of a column.
void measure_rows(const Tensor& row_splits, ColumnStatistics& column) {
  const auto splits = row_splits.as<int64_t>();
  for (size_t i = 1; i < splits.size(); ++i) {
    const int64_t length = splits[i] - splits[i - 1];
    column.shortest = column.shortest < 0 ? length : std::min(column.shortest, length);
    column.longest = std::max(column.longest, length);
  }
}

}  // namespace

Statistics::Statistics(const Dataset& columns) {
  for (const Column& of : columns.columns()) {
    const Tensor& values = of.values;
    const auto shape = values.shape().dims().subspan(1);
    Sum& sum = sums_.emplace_back();
    sum.column = {.name = of.name, .dtype = values.dtype(), .shape = {shape.begin(), shape.end()}};
    sum.column.is_ragged = of.is_ragged();
    if (shape.empty() && is_integer(values.dtype()) && !of.is_ragged()) sum.column.counts.emplace();
  }
}

void Statistics::add(const Dataset& batch) {
  for (size_t i = 0; i < sums_.size(); ++i) {
    const Tensor& tensor = batch.columns()[i].values;
    if (batch.columns()[i].is_ragged()) measure_rows(batch.columns()[i].row_splits, sums_[i].column);
    with_type(Numbers{}, tensor.dtype(), [&]<class T>(std::type_identity<T>) {
      auto& [column, squares] = sums_[i];
      for (const T element : tensor.as<T>()) {
        const auto value = static_cast<double>(element);
        column.least = column.elements == 0 ? value : std::min(column.least, value);
        column.greatest = column.elements == 0 ? value : std::max(column.greatest, value);
        // Welford's method, which loses no digits when the mean is far from zero.
        const double difference = value - column.mean;
        column.mean += difference / static_cast<double>(++column.elements);
        squares += difference * (value - column.mean);
      }
      if constexpr (std::is_integral_v<T>) count(tensor.as<T>(), column.counts);
    });
  }
}

std::vector<ColumnStatistics> Statistics::result() const {
  std::vector<ColumnStatistics> columns;
  for (const auto& [column, squares] : sums_) {
    columns.push_back(column);
    if (column.elements > 0)
      columns.back().deviation = std::sqrt(squares / static_cast<double>(column.elements));
  }
  return columns;
}

}  // namespace troupe::data
