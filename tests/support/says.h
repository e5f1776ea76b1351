// says: whether a text has a part, for tests of messages. Any thread.
#pragma once

#include <string_view>

namespace troupe::test {

inline bool says(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace troupe::test
