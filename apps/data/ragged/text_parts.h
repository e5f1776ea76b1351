// The parts of a text: its words, or the numbers in it. Pure functions; any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "messages/values/status.h"

namespace troupe::data {

/// The characters between the words of a text.
constexpr std::string_view between_words = " \t\r\n";
/// The characters between the numbers of a text.
constexpr std::string_view between_numbers = " ,;\t\r\n";

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

/// What happens to a text before it is divided into words.
enum class Standardize : uint8_t {
  None,
  Lower,                    ///< its letters, those of Unicode, become lower case
  LowerWithoutPunctuation,  ///< the punctuation characters of ASCII are left out, too
};

/// Returns the text, standardized. Ill-formed UTF-8 becomes U+FFFD where letters become lower case.
std::string standardized(std::string_view text, Standardize how);

/// Calls visit(word) for each word of the text, standardized, until one fails.
template <class Visit>
Status each_word(std::string_view text, Standardize how, const Visit& visit) {
  if (how == Standardize::None) return each_part(text, between_words, visit);
  return each_part(standardized(text, how), between_words, visit);
}

}  // namespace troupe::data
