// Upper and lower case of all letters of Unicode, and characters in UTF-8. Pure functions; any thread may call them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace troupe {

enum class LetterCase : uint8_t { Lower, Upper };

/// Appends the text with its letters in a case: those of Unicode 14.0, without rules of a language. One letter may become several.
/// A capital sigma at the end of a word becomes a final sigma. Each ill-formed sequence becomes U+FFFD, as next_character() says.
void append_in_case(LetterCase to, std::string_view text, std::string& result);

}  // namespace troupe
