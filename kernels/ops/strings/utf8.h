// Characters in UTF-8. Pure functions; any thread may call them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace troupe {

inline constexpr uint32_t max_character = 0x10FFFF;
inline constexpr uint32_t replacement_character = 0xFFFD;
/// Half of a pair in UTF-16, which is no character.
constexpr bool is_surrogate(uint32_t c) { return c >= 0xD800 && c <= 0xDFFF; }
constexpr bool is_character(uint32_t c) { return c <= max_character && !is_surrogate(c); }

/// A character and the bytes that it takes; or an ill-formed sequence.
struct NextCharacter {
  uint32_t value;
  size_t bytes;
  bool is_valid = true;
};
/// Reads the first character of a text, which is not empty. Of bytes that begin no character, an ill-formed sequence is as many as
/// could begin one, at least one byte (Unicode, section 3.9: maximal subparts).
NextCharacter next_character(std::string_view text);
/// Returns whether a text consists of characters only.
bool is_utf8(std::string_view text);
/// Appends a character.
void append_character(uint32_t c, std::string& text);

}  // namespace troupe
