// Times in text. A function without state; any thread.
#pragma once

#include <optional>
#include <string_view>

namespace troupe::data {

/// Returns a time in seconds since 1970-01-01 UTC, or nothing if the text is not a time: a date of ISO 8601 ("2026-11-26"),
/// followed by a time of the day or not ("2026-11-26 12:30", "2026-11-26T12:30:05.25Z", "2026-11-26T12:30:05+01:00"), eight digits
/// that are a date of the years 1800 to 2199 ("20261126"), or a number of seconds. Without an offset it is a time of UTC.
std::optional<double> parse_timestamp(std::string_view text);

}  // namespace troupe::data
