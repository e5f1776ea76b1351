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
  if (std::ranges::any_of(sources, is_pattern)) return {};
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

}  // namespace troupe::data
