#include "apps/data/csv/timestamp.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <utility>

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
  /// Takes all digits that follow, at most so many; nothing if there are none.
  std::optional<int> number_up_to(size_t most_digits) {
    const size_t digits = std::min(text_.find_first_not_of("0123456789"), text_.size());
    return digits == 0 || digits > most_digits ? std::nullopt : number(digits);
  }
  /// Takes one of these characters, and returns it.
  std::optional<char> one_of(std::string_view characters) {
    if (text_.empty() || characters.find(text_.front()) == std::string_view::npos) return {};
    const char taken = text_.front();
    text_.remove_prefix(1);
    return taken;
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

/// Parses a time such as 5:30, 17:30:05 or 5:30 PM.
std::optional<double> parse_clock(Parts& parts) {
  const auto hour = parts.number_up_to(2);
  if (!hour || !parts.take(':')) return {};
  const auto minute = parts.number(2);
  const auto second = parts.take(':') ? parts.number(2) : std::optional(0);
  if (!minute || !second || *minute > 59 || *second > 60) return {};
  const double fraction = parts.take('.') ? parts.fraction() : 0;
  const double in_hour = 60.0 * *minute + *second + fraction;
  parts.take(' ');
  if (parts.at_end()) return *hour > 24 ? std::nullopt : std::optional(3600.0 * *hour + in_hour);
  const auto half = parts.one_of("aApP");
  if (!half || !parts.one_of("mM") || !parts.at_end() || *hour < 1 || *hour > 12) return {};
  const bool is_afternoon = *half == 'p' || *half == 'P';
  return 3600.0 * (*hour % 12 + (is_afternoon ? 12 : 0)) + in_hour;
}

/// Parses a date in an order, followed by a time or not.
std::optional<double> parse_in_order(std::string_view text, DateOrder order) {
  Parts parts(text);
  const bool has_year_first = order == DateOrder::YearMonthDay;
  const auto first = has_year_first ? parts.number(4) : parts.number_up_to(2);
  const auto separator = parts.one_of("/.-");
  const auto second = parts.number_up_to(2);
  if (!first || !separator || !second || !parts.take(*separator)) return {};
  auto third = has_year_first ? parts.number_up_to(2) : parts.number(4);
  if (!third && !has_year_first) third = parts.number(2);
  if (!third) return {};
  if (!has_year_first && *third < 100) third = *third + (*third < 70 ? 2000 : 1900);
  const auto date = has_year_first                     ? seconds_of(first, second, third)
                    : order == DateOrder::DayMonthYear ? seconds_of(third, second, first)
                                                       : seconds_of(third, first, second);
  if (!date || parts.at_end()) return date;
  if (!parts.one_of(" T,")) return {};
  parts.take(' ');
  const auto time = parse_clock(parts);
  return time && parts.at_end() ? std::optional(*date + *time) : std::nullopt;
}

constexpr std::array<std::pair<std::string_view, DateOrder>, 3> orders = {
    {{"mdy", DateOrder::MonthDayYear}, {"dmy", DateOrder::DayMonthYear}, {"ymd", DateOrder::YearMonthDay}}};

}  // namespace

DateOrder date_order(std::string_view name) {
  for (const auto& [known, order] : orders)
    if (known == name) return order;
  return DateOrder::Iso;
}

std::string_view name_of(DateOrder order) {
  for (const auto& [name, known] : orders)
    if (known == order) return name;
  return "iso";
}

std::string advice_on_dates(std::string_view field) {
  std::string names;
  for (const auto& [name, order] : orders)
    if (parse_in_order(field, order)) names.append(names.empty() ? "\"" : " or \"").append(name).append("\"");
  return names.empty() ? names : "; data.dates = " + names + " reads it";
}

std::optional<double> parse_timestamp(std::string_view text, DateOrder order) {
  if (order != DateOrder::Iso)
    if (const auto time = parse_in_order(text, order)) return time;
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
