#include "apps/data/csv/timestamp.h"

#include <charconv>
#include <chrono>
#include <cmath>

namespace troupe::data {
namespace {

/// Takes parts of a text from its front.
class Parts {
 public:
  explicit Parts(std::string_view text) : text_(text) {}

  bool at_end() const { return text_.empty(); }
  bool take(char c) {
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  /// Takes exactly this number of digits.
  std::optional<int> number(size_t digits) {
    int value = 0;
    if (text_.size() < digits) return {};
    for (const char c : text_.substr(0, digits)) {
      if (c < '0' || c > '9') return {};
      value = value * 10 + (c - '0');
    }
    text_.remove_prefix(digits);
    return value;
  }
  /// Takes all digits that follow, as those behind a decimal point.
  double fraction() {
    double value = 0;
    for (double unit = 0.1; !text_.empty() && text_.front() >= '0' && text_.front() <= '9'; unit /= 10) {
      value += unit * (text_.front() - '0');
      text_.remove_prefix(1);
    }
    return value;
  }

 private:
  std::string_view text_;
};

/// Returns nothing if the parts are missing, or there is no such day.
std::optional<double> seconds_of(std::optional<int> year, std::optional<int> month, std::optional<int> day) {
  if (!year || !month || !day) return {};
  const std::chrono::year_month_day date(std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day)));
  if (!date.ok()) return {};
  return 86400.0 * static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count());
}

/// Parses a date such as 2026-11-26.
std::optional<double> parse_date(Parts& parts) {
  const auto year = parts.number(4);
  if (!parts.take('-')) return {};
  const auto month = parts.number(2);
  if (!parts.take('-')) return {};
  return seconds_of(year, month, parts.number(2));
}

/// Parses a date such as 20261126. Other numbers are seconds: those of eight digits are of the year 1970.
std::optional<double> parse_digits_of_date(std::string_view text) {
  Parts parts(text);
  const auto year = parts.number(4), month = parts.number(2), day = parts.number(2);
  if (!parts.at_end() || !year || *year < 1800 || *year > 2199) return {};
  return seconds_of(year, month, day);
}

/// Parses HH:MM, followed by :SS and a fraction or not.
std::optional<double> parse_time_of_day(Parts& parts) {
  const auto hour = parts.number(2);
  if (!hour || *hour > 24 || !parts.take(':')) return {};
  const auto minute = parts.number(2);
  if (!minute || *minute > 59) return {};
  double seconds = 3600.0 * *hour + 60.0 * *minute;
  if (!parts.take(':')) return seconds;
  const auto second = parts.number(2);
  if (!second || *second > 60) return {};
  seconds += *second;
  return parts.take('.') ? seconds + parts.fraction() : seconds;
}

/// Parses 'Z', +HH:MM, +HHMM or +HH, or nothing. Returns seconds.
std::optional<double> parse_offset(Parts& parts) {
  if (parts.at_end() || parts.take('Z')) return 0;
  const bool behind = parts.take('-');
  if (!behind && !parts.take('+')) return {};
  const auto hours = parts.number(2);
  if (!hours || *hours > 23) return {};
  parts.take(':');
  const auto minutes = parts.at_end() ? std::optional(0) : parts.number(2);
  if (!minutes || *minutes > 59) return {};
  return (behind ? -1 : 1) * (3600.0 * *hours + 60.0 * *minutes);
}

}  // namespace

std::optional<double> parse_timestamp(std::string_view text) {
  if (const auto date = parse_digits_of_date(text)) return date;
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error == std::errc() && end == text.data() + text.size())
    return std::isfinite(seconds) ? std::optional(seconds) : std::nullopt;
  Parts parts(text);
  const auto date = parse_date(parts);
  if (!date || parts.at_end()) return date;
  if (!parts.take('T') && !parts.take(' ')) return {};
  const auto time = parse_time_of_day(parts);
  if (!time) return {};
  const auto offset = parse_offset(parts);
  if (!offset || !parts.at_end()) return {};
  return *date + *time - *offset;
}

}  // namespace troupe::data
