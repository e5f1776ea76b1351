// White space, numbers written in text, and how errors show a text. Pure functions; any thread may call them.
// Numbers are read as TensorFlow reads them: white space around the number is allowed.
//   integer        an optional sign (unsigned: only +) and decimal digits, within the range of the type
//   float, double  an optional sign and a decimal number with or without point and exponent, 0x and a hexadecimal number, inf,
//                  infinity or nan in any case; beyond the range it is an infinity, or 0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace troupe {

/// Returns whether a byte is white space in ASCII.
constexpr bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// Returns the text between white space at both ends.
std::string_view stripped(std::string_view text);

/// Returns the text in quotes, as errors show it: bytes that are no printable ASCII characters as \x80, and of a long text the
/// first 64 bytes.
std::string quoted(std::string_view text);

/// Return false for any other text.
bool parse_number(std::string_view text, int32_t& value);
bool parse_number(std::string_view text, int64_t& value);
bool parse_number(std::string_view text, uint32_t& value);
bool parse_number(std::string_view text, uint64_t& value);
bool parse_number(std::string_view text, float& value);
bool parse_number(std::string_view text, double& value);

}  // namespace troupe
