// Text for pages of HTML and for drawings inside them. Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>

namespace troupe::report {

/// Returns the text with the characters that HTML gives a meaning replaced by references, for content and for attributes in quotes.
/// Control characters other than line breaks and tabs, which HTML does not allow, become U+FFFD.
std::string html(std::string_view text);

/// Returns a number with at most four significant digits for people: "0.9638", "1.2e-05", "460". NaN becomes a dash.
std::string short_number(double value);

/// Returns a time for people: "8.4 ms", "12.3 s", "3 min 20 s", "2 h 5 min".
std::string short_duration(double seconds);

}  // namespace troupe::report
