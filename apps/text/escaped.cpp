#include "apps/text/escaped.h"

namespace troupe {
namespace {

uint8_t byte_at(std::string_view text, size_t i) { return static_cast<uint8_t>(text[i]); }

/// Returns the length in bytes of the first character, or 0 if it is a control character or invalid UTF-8 (RFC 3629).
size_t printable_length(std::string_view text) {
  const uint8_t first = byte_at(text, 0);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  const size_t length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (length == 0 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte_at(text, i) & 0xc0) != 0x80) return 0;
  const uint8_t second = byte_at(text, 1);
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool outside = (first == 0xed && second >= 0xa0) || (first == 0xf4 && second >= 0x90);
  const bool control = first == 0xc2 && second < 0xa0;
  return overlong || outside || control ? 0 : length;
}

}  // namespace

std::string escaped(std::string_view text) {
  constexpr char digits[] = "0123456789abcdef";
  std::string out;
  while (!text.empty()) {
    const size_t length = printable_length(text);
    if (text[0] == '\\')
      out += "\\\\";
    else if (length != 0)
      out += text.substr(0, length);
    else
      out += {'\\', 'x', digits[byte_at(text, 0) >> 4], digits[byte_at(text, 0) & 15]};
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

}  // namespace troupe
