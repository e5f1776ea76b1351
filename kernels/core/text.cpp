#include "kernels/core/text.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>

namespace troupe {
namespace {

bool starts_with_sign(std::string_view text) { return text.starts_with('-') || text.starts_with('+'); }

/// Removes a sign; returns whether it was a minus.
bool take_sign(std::string_view& text) {
  const bool is_negative = text.starts_with('-');
  if (starts_with_sign(text)) text.remove_prefix(1);
  return is_negative;
}

template <class T>
bool parse_integer(std::string_view text, T& value) {
  text = stripped(text);
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (starts_with_sign(text)) return false;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

/// Returns whether an unsigned number beyond the range of its type is large, not small. Its exponent, if it has one, counts digits
/// of the base, or for the base 16 bits.
bool is_large(std::string_view number, bool is_hex) {
  const size_t mark = number.find_first_of(is_hex ? "pP" : "eE");
  const std::string_view digits = number.substr(0, mark);
  const size_t point = std::min(digits.find('.'), digits.size()), first = digits.find_first_not_of("0.");
  if (first == std::string_view::npos) return false;
  const int64_t place =
      first < point ? static_cast<int64_t>(point - first) : -static_cast<int64_t>(first - point - 1);
  int64_t exponent = 0;
  if (mark != std::string_view::npos) {
    std::string_view power = number.substr(mark + 1);
    const bool is_negative = take_sign(power);
    if (std::from_chars(power.data(), power.data() + power.size(), exponent).ec != std::errc{})
      exponent = std::numeric_limits<int64_t>::max() / 2;
    if (is_negative) exponent = -exponent;
  }
  const int64_t most = std::numeric_limits<int64_t>::max() / 4;
  return std::clamp(exponent, -most, most) + place * (is_hex ? 4 : 1) > 0;
}

template <class T>
bool parse_float(std::string_view text, T& value) {
  text = stripped(text);
  const bool is_negative = take_sign(text);
  const bool is_hex = text.size() > 2 && text[0] == '0' && (text[1] | 0x20) == 'x';
  if (is_hex) text.remove_prefix(2);
  if (text.empty() || starts_with_sign(text)) return false;
  const char* const end = text.data() + text.size();
  const auto [at, error] =
      std::from_chars(text.data(), end, value, is_hex ? std::chars_format::hex : std::chars_format::general);
  if (at != end || error == std::errc::invalid_argument) return false;
  if (error == std::errc::result_out_of_range)
    value = is_large(text, is_hex) ? std::numeric_limits<T>::infinity() : T{0};
  if (is_negative) value = -value;
  return true;
}

}  // namespace

std::string_view stripped(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::string quoted(std::string_view text) {
  constexpr size_t most = 64;
  constexpr std::string_view digits = "0123456789abcdef";
  std::string result = "'";
  for (const char c : text.substr(0, most)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7F)
      result += c;
    else
      result.append("\\x").append(1, digits[byte >> 4]).append(1, digits[byte & 15]);
  }
  if (text.size() <= most) return result.append("'");
  return result.append("...' of ").append(std::to_string(text.size())).append(" bytes");
}

bool parse_number(std::string_view text, int32_t& value) { return parse_integer(text, value); }
bool parse_number(std::string_view text, int64_t& value) { return parse_integer(text, value); }
bool parse_number(std::string_view text, uint32_t& value) { return parse_integer(text, value); }
bool parse_number(std::string_view text, uint64_t& value) { return parse_integer(text, value); }
bool parse_number(std::string_view text, float& value) { return parse_float(text, value); }
bool parse_number(std::string_view text, double& value) { return parse_float(text, value); }

}  // namespace troupe
