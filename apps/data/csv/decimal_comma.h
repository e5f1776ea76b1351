// Numbers with a comma where a point must be, as tables of many countries have them: "5,1", "1.234,5". Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>

namespace troupe::data {

/// Returns whether a field is such a number. Points may stand between groups of three digits.
bool has_decimal_comma(std::string_view field);

/// Returns what to do about a file that has such a field, as text to append to an error: a command that writes another file, unless
/// commas are the delimiter, too.
std::string advice_on_decimal_comma(std::string_view field, const std::string& path, char delimiter);

}  // namespace troupe::data
