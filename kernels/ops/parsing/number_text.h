// Numbers written in text, as TensorFlow reads them: white space around the number is allowed. Any thread.
//   integer        an optional sign and decimal digits, within the range of the type
//   float, double  an optional sign and a decimal number with or without point and exponent, 0x and a hexadecimal number, inf,
//                  infinity or nan in any case; beyond the range it is an infinity, or 0
#pragma once

#include <cstdint>
#include <string_view>

namespace troupe::parsing {

/// Return false for any other text.
bool parse_number(std::string_view text, int32_t& value);
bool parse_number(std::string_view text, int64_t& value);
bool parse_number(std::string_view text, float& value);
bool parse_number(std::string_view text, double& value);

}  // namespace troupe::parsing
