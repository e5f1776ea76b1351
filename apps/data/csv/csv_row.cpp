#include "apps/data/csv/csv_row.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "apps/data/csv/csv_lines.h"
#include "apps/data/numbers.h"

namespace troupe::data {
namespace {

std::string_view trim(std::string_view text, std::string_view blanks) {
  const size_t begin = std::min(text.find_first_not_of(blanks), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

/// Replaces two quotes by one.
std::string with_single_quotes(std::string_view field) {
  std::string text;
  for (size_t i = 0; i < field.size(); ++i) {
    text += field[i];
    if (field.substr(i, 2) == "\"\"") ++i;
  }
  return text;
}

/// Converts a finite number. Returns false if the type T does not have it.
template <class T>
bool convert(double from, T& to) {
  if constexpr (std::is_integral_v<T>) {
    const auto whole = whole_number<T>(from);
    to = whole.value_or(0);
    return whole.has_value();
  } else {
    to = static_cast<T>(from);
    return std::isfinite(to);
  }
}

/// Parses a number that ends at a delimiter or the end. Returns the position after it, or null if there is no finite number that
/// the type T has. Small whole numbers, which are the most frequent ones, are parsed without from_chars.
template <class T>
const char* parse_number(const char* begin, const char* end, char delimiter, T& number) {
  const auto ends_at = [&](const char* at) { return at == end || *at == delimiter; };
  uint32_t value = 0;
  const char* at = begin;
  for (; at != end && at - begin < 9 && *at >= '0' && *at <= '9'; ++at)
    value = value * 10 + static_cast<uint32_t>(*at - '0');
  if (at != begin && ends_at(at)) {
    number = static_cast<T>(value);
    return at;
  }
  if (begin != end && *begin == '+') ++begin;
  if constexpr (std::is_integral_v<T>) {  // otherwise a large one would lose digits
    const auto whole = std::from_chars(begin, end, number);
    if (whole.ec == std::errc() && ends_at(whole.ptr)) return whole.ptr;
  }
  double any = 0;
  const auto parsed = std::from_chars(begin, end, any);
  const bool is_finite = parsed.ec == std::errc() && ends_at(parsed.ptr) && std::isfinite(any);
  return is_finite && convert(any, number) ? parsed.ptr : nullptr;
}

}  // namespace

CsvRow::CsvRow(char delimiter, bool has_quotes)
    : delimiter_(delimiter), has_quotes_(has_quotes), blanks_(blanks_around_fields(delimiter)) {}

void CsvRow::set(std::string_view line) {
  line_ = trim(line, "\r");
  line_end_ = false;
}

bool CsvRow::blank() const { return trim(line_, " \t\r").empty(); }

std::string_view CsvRow::next_field() {
  size_t from = 0;
  const size_t quote = line_.find_first_not_of(blanks_);
  const bool quoted = has_quotes_ && quote != std::string_view::npos && line_[quote] == '"';
  bool doubled = false;
  if (quoted) {
    from = line_.find('"', quote + 1);
    while (from < line_.size() && line_.substr(from, 2) == "\"\"") {
      doubled = true;
      from = line_.find('"', from + 2);
    }
    from = std::min(from, line_.size());
  }
  const size_t end = line_.find(delimiter_, from);
  line_end_ = end == std::string_view::npos;
  std::string_view field = trim(line_.substr(0, end), blanks_);
  if (quoted && field.size() >= 2 && field.back() == '"')
    field = trim(field.substr(1, field.size() - 2), blanks_);
  if (doubled) field = unquoted_ = with_single_quotes(field);
  if (!line_end_) line_.remove_prefix(end + 1);
  return field;
}

template <class T>
bool CsvRow::next_number(T& number) {
  const char* const end = line_.data() + line_.size();
  const char* const at = parse_number(line_.data(), end, delimiter_, number);
  if (!at) return false;
  line_end_ = at == end;
  line_.remove_prefix(static_cast<size_t>(at - line_.data()) + (line_end_ ? 0 : 1));
  return true;
}

template <class T>
std::optional<T> CsvRow::number_of(std::string_view field) {
  constexpr char no_delimiter = '\0';
  T number = 0;
  const char* const end = field.data() + field.size();
  if (field.empty() || parse_number(field.data(), end, no_delimiter, number) != end) return {};
  return number;
}

template bool CsvRow::next_number(float&);
template bool CsvRow::next_number(double&);
template bool CsvRow::next_number(int32_t&);
template bool CsvRow::next_number(int64_t&);
template std::optional<float> CsvRow::number_of(std::string_view);
template std::optional<double> CsvRow::number_of(std::string_view);
template std::optional<int32_t> CsvRow::number_of(std::string_view);
template std::optional<int64_t> CsvRow::number_of(std::string_view);

}  // namespace troupe::data
