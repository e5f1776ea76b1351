#include "apps/config/encoded_columns.h"

#include <algorithm>
#include <numbers>

#include "kernels/constructors.h"

namespace troupe::config {
namespace {

using data::ColumnType;
using data::TableColumn;

constexpr double day = 86400, week = 7 * day, year = 365.2425 * day;
constexpr double first_monday = 4 * day;  // 1970-01-05

Output constant_row(const Scope& scope, const std::vector<double>& values, DType dtype) {
  if (dtype == DType::Double) return scope.constant(Tensor::vector<double>(values));
  return scope.constant(Tensor::vector<float>(std::vector<float>(values.begin(), values.end())));
}

Output as_matrix(const Scope& scope, Output values) {
  return scope.shape(values).rank() == 1 ? expand_dims(scope, values, 1) : values;
}

Output normalized(const Scope& scope, const TableColumn& column, Output values) {
  if (column.center.empty()) return values;
  const DType dtype = scope.dtype(values);
  return div(scope, sub(scope, values, constant_row(scope, column.center, dtype)),
             constant_row(scope, column.spread, dtype));
}

Output encoded_number(const Scope& scope, const TableColumn& column, Output raw) {
  const DType dtype = scope.dtype(raw);
  Output values = as_matrix(scope, raw);
  if (!column.fill.empty())
    values = where_v2(scope, is_nan(scope, values), constant_row(scope, column.fill, dtype), values);
  const Output number = normalized(scope, column, values);
  return dtype == DType::Float ? number : cast(scope, number, f32);
}

/// Returns bool [batch, values].
Output is_value(const Scope& scope, const TableColumn& column, Output raw) {
  return equal(scope, expand_dims(scope, raw, 1), scope.constant(Tensor::vector<std::string>(column.values)));
}

Output encoded_category(const Scope& scope, const TableColumn& column, Output raw) {
  if (!column.is_index) return cast(scope, is_value(scope, column, raw), f32);
  // A value at place i is `count` less count - i; an unknown one is `count`.
  const auto count = static_cast<int64_t>(column.values.size());
  const Output found = cast(scope, is_value(scope, column, raw), i32);
  return sub(scope, count, sum(scope, mul(scope, found, range(scope, count, 0, -1)), 1));
}

/// Returns sine and cosine of the place of a time in a period.
Output phase(const Scope& scope, Output seconds, double period, double begin) {
  const Output place = floor_mod(scope, sub(scope, seconds, begin), period);
  const Output angle = cast(scope, mul(scope, place, 2 * std::numbers::pi / period), f32);
  return concat(scope, {sin(scope, angle), cos(scope, angle)}, 1);
}

Output encoded_time(const Scope& scope, const TableColumn& column, Output raw) {
  const Output seconds = as_matrix(scope, raw);
  std::vector<Output> parts;
  for (const std::string& part : column.parts) {
    if (part == "hour") parts.push_back(phase(scope, seconds, day, 0));
    if (part == "weekday") parts.push_back(phase(scope, seconds, week, first_monday));
    if (part == "yearday") parts.push_back(phase(scope, seconds, year, 0));
    if (part == "time") parts.push_back(cast(scope, normalized(scope, column, seconds), f32));
  }
  const Output all = parts.size() == 1 ? parts.front() : concat(scope, parts, 1);
  if (column.missing == data::Missing::Error) return all;
  return where_v2(scope, is_nan(scope, all), 0.0f, all);
}

Output encoded(const Scope& scope, const TableColumn& column, Output raw) {
  switch (column.type) {
    case ColumnType::Number: return encoded_number(scope, column, raw);
    case ColumnType::Category: return encoded_category(scope, column, raw);
    case ColumnType::Timestamp: return encoded_time(scope, column, raw);
    default: return raw;
  }
}

Output not_fitted(const Scope& scope, const TableColumn& column) {
  const PartialShape shape =
      column.is_feature() ? PartialShape{unknown_dim, unknown_dim} : PartialShape{unknown_dim};
  const DType dtype = column.is_feature() ? DType::Float : DType::Int32;
  return scope.with_name(column.input).add_one("Placeholder", {}, {{"dtype", dtype}, {"shape", shape}});
}

}  // namespace

bool is_fitted(const TableColumn& column) {
  switch (column.type) {
    case ColumnType::Number:
      return (column.normalization == data::Normalization::None ||
              (!column.center.empty() && !column.spread.empty())) &&
             (!column.fills_from_samples() || !column.fill.empty());
    case ColumnType::Category: return !column.values.empty();
    case ColumnType::Timestamp:
      return !column.parts.empty() &&  // they were rejected
             (std::ranges::find(column.parts, "time") == column.parts.end() ||
              (!column.center.empty() && !column.spread.empty()));
    default: return true;
  }
}

std::vector<std::string> encoded_names(std::span<const TableColumn> table) {
  std::vector<std::string> names;
  for (const TableColumn& column : table)
    if (std::ranges::find(names, column.input) == names.end()) names.push_back(column.input);
  return names;
}

Columns encode_columns(std::span<const TableColumn> table, const Scope& scope, const Columns& columns) {
  if (table.empty()) return columns;
  Columns inputs;
  for (const std::string& name : encoded_names(table)) {
    std::vector<Output> parts;
    for (const TableColumn& column : table) {
      if (column.input != name) continue;
      if (!is_fitted(column)) {
        parts = {not_fitted(scope, column)};
        break;
      }
      const auto raw = std::ranges::find(columns, column.name, &Columns::value_type::first);
      parts.push_back(encoded(scope.with_prefix(column.name), column, raw->second));
    }
    inputs.emplace_back(name, parts.size() == 1 ? parts.front() : concat(scope, parts, 1));
  }
  for (const auto& column : columns)
    if (std::ranges::find(table, column.first, &TableColumn::name) == table.end()) inputs.push_back(column);
  return inputs;
}

}  // namespace troupe::config
