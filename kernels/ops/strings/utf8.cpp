#include "kernels/ops/strings/utf8.h"

#include <algorithm>

namespace troupe {
namespace {

/// What the first byte of a character says: how many bytes it has, and the range of the second one.
struct Lead {
  size_t bytes;
  uint8_t low = 0x80, high = 0xBF;
};

Lead lead(uint8_t byte) {
  if (byte < 0x80) return {1};
  if (byte < 0xC2 || byte > 0xF4) return {0};
  if (byte < 0xE0) return {2};
  if (byte == 0xE0) return {3, 0xA0};
  if (byte == 0xED) return {3, 0x80, 0x9F};  // no surrogates
  if (byte < 0xF0) return {3};
  if (byte == 0xF0) return {4, 0x90};
  return byte == 0xF4 ? Lead{4, 0x80, 0x8F} : Lead{4};
}

}  // namespace

NextCharacter next_character(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const Lead first = lead(byte(0));
  if (first.bytes <= 1) return {byte(0), 1, first.bytes == 1};
  uint32_t value = byte(0) & (0x7Fu >> first.bytes);
  for (size_t i = 1; i < first.bytes; ++i) {
    const bool fits =
        i < text.size() && byte(i) >= (i == 1 ? first.low : 0x80) && byte(i) <= (i == 1 ? first.high : 0xBF);
    if (!fits) return {replacement_character, i, false};
    value = value << 6 | (byte(i) & 0x3F);
  }
  return {value, first.bytes};
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const NextCharacter next = next_character(text);
    if (!next.is_valid) return false;
    text.remove_prefix(next.bytes);
  }
  return true;
}

void append_character(uint32_t c, std::string& text) {
  if (c < 0x80) {
    text += static_cast<char>(c);
    return;
  }
  const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  text += static_cast<char>((0xFF00 >> (more + 1) & 0xFF) | c >> (6 * more));
  for (int i = more; i-- > 0;) text += static_cast<char>(0x80 | (c >> (6 * i) & 0x3F));
}

}  // namespace troupe
