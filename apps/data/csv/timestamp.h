// Times in text. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::data {

/// The order of day, month and year in dates that are not those of ISO 8601.
enum class DateOrder : uint8_t { Iso, DayMonthYear, MonthDayYear, YearMonthDay };

/// Returns the order with a name: "dmy", "mdy" or "ymd"; any other one is that of ISO 8601.
DateOrder date_order(std::string_view name);
std::string_view name_of(DateOrder order);

/// Returns a time in seconds since 1970-01-01 UTC, or nothing if the text is not a time: a date of ISO 8601 ("2026-11-26"),
/// followed by a time of the day or not ("2026-11-26 12:30", "2026-11-26T12:30:05.25Z", "2026-11-26T12:30:05+01:00"), eight digits
/// that are a date of the years 1800 to 2199 ("20261126"), or a number of seconds. Without an offset it is a time of UTC. If
/// another order is given, also a date such as "26/11/2026", "26.11.26" or "26-11-2026" (day first), followed by a time or not
/// ("17:30", "5:30:05 PM"). Years of two digits are 1970 to 2069.
std::optional<double> parse_timestamp(std::string_view text, DateOrder order = DateOrder::Iso);

/// Returns which orders of dates read a field that is no time, as text to append to an error; an empty text if none do.
std::string advice_on_dates(std::string_view field);

}  // namespace troupe::data
