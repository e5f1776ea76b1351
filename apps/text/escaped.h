// Makes text from files and graphs safe to print. A pure function; any thread.
#pragma once

#include <string>
#include <string_view>

namespace troupe {

/// Returns any bytes as UTF-8 text without control characters, for a line of a terminal or of JSON. A backslash becomes two, and
/// each byte of a control character or of invalid UTF-8 becomes an escape such as "\x1b".
std::string escaped(std::string_view text);

}  // namespace troupe
