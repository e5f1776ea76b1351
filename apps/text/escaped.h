// Text from files and graphs made fit to print. A pure function; any thread.
#pragma once

#include <string>
#include <string_view>

namespace troupe {

/// Text that may hold any bytes, for a line of a terminal or of JSON: a backslash becomes two, and every byte of a control character,
/// or of what is no UTF-8, "\x1b". The result is UTF-8.
std::string escaped(std::string_view text);

}  // namespace troupe
