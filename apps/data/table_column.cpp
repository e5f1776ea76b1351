#include "apps/data/table_column.h"

#include <algorithm>
#include <cmath>

#include "apps/data/file_patterns.h"
#include "messages/env/glob.h"

namespace troupe::data {
namespace {

bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         static_cast<uint8_t>(c) >= 0x80;  // a part of a character that is not ASCII
}

std::string comparable(std::string_view name) {
  std::string text;
  for (const char c : name)
    text += !is_alphanumeric(c) ? '_' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

/// Returns whether floats would have too few digits to subtract the center: it is not known yet, or much larger than the spread,
/// as that of times in seconds since 1970.
bool takes_doubles(const TableColumn& column) {
  if (column.normalization == Normalization::None) return false;
  constexpr double most = 1024;  // a float has 24 bits, of which 14 are left
  for (size_t i = 0; i < std::min(column.center.size(), column.spread.size()); ++i)
    if (std::abs(column.center[i]) > most * column.spread[i]) return true;
  return column.center.empty();
}

}  // namespace

DType TableColumn::dtype() const {
  switch (type) {
    case ColumnType::Number: return takes_doubles(*this) ? DType::Double : DType::Float;
    case ColumnType::Timestamp: return DType::Double;
    default: return DType::String;
  }
}

DType TableColumn::label_dtype() const { return type == ColumnType::Number ? DType::Float : dtype(); }

bool TableColumn::is_vector() const {
  return sources.size() > 1 || (!sources.empty() && is_pattern(sources.front()));
}

std::optional<int64_t> TableColumn::width() const {
  if (has_pattern(sources)) return {};
  return static_cast<int64_t>(sources.size());
}

bool TableColumn::is_feature() const {
  return type == ColumnType::Number || type == ColumnType::Timestamp ||
         (type == ColumnType::Category && !is_index);
}

bool names_column(std::string_view name_or_pattern, std::string_view column) {
  if (is_pattern(name_or_pattern)) return matches(name_or_pattern, column);
  return name_or_pattern == column || comparable(name_or_pattern) == comparable(column);
}

Result<std::vector<size_t>> columns_named(std::string_view name_or_pattern,
                                          std::span<const std::string> columns) {
  const bool is_exact =
      !is_pattern(name_or_pattern) && std::ranges::find(columns, name_or_pattern) != columns.end();
  std::vector<size_t> found;
  for (size_t i = 0; i < columns.size(); ++i)
    if (is_exact ? columns[i] == name_or_pattern : names_column(name_or_pattern, columns[i]))
      found.push_back(i);
  if (is_pattern(name_or_pattern) || found.empty()) return found;
  for (const size_t other : found)
    if (columns[other] != columns[found[0]])
      return invalid_argument("'" + std::string(name_or_pattern) + "' may mean the column '" +
                              columns[found[0]] + "' or '" + columns[other] +
                              "'; write the name as the file has it");
  return found;
}

}  // namespace troupe::data
