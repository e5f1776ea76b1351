// The parts of a text: its words, or the numbers in it. A pure function; any thread.
#pragma once

#include <algorithm>
#include <string_view>

#include "messages/values/status.h"

namespace troupe::data {

/// The characters between the words of a text.
constexpr std::string_view between_words = " \t\r\n";

/// Calls visit(part) for each part of the text between separators, until one fails.
template <class Visit>
Status each_part(std::string_view text, std::string_view separators, const Visit& visit) {
  for (;;) {
    const size_t begin = text.find_first_not_of(separators);
    if (begin == std::string_view::npos) return {};
    text.remove_prefix(begin);
    const size_t end = std::min(text.find_first_of(separators), text.size());
    TROUPE_RETURN_IF_FAILED(visit(text.substr(0, end)));
    text.remove_prefix(end);
  }
}

}  // namespace troupe::data
