// Values that another program computed, as text: "float[2,3] 1 2 3 4 5 6" (the format of
// tests/golden/make_op_values.py), and their comparison with values of this program. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "messages/values/tensor.h"

namespace troupe::test {

/// Returns the parts of a text between separators.
std::vector<std::string_view> parts_of(std::string_view text, char separator);

/// Returns the string that is percent-encoded ("%": the empty one).
std::string string_from_text(std::string_view text);

/// Throws Error if the text does not describe a tensor.
Tensor tensor_from_text(std::string_view text);

/// The allowed difference of floats: `relative` times the larger one, or `absolute`. If
/// both are 0, floats must be equal, including the sign of a zero. All NaNs are equal.
struct Tolerance {
  double relative = 0, absolute = 0;
};

/// Describes the first difference, or returns an empty text. Integers, bools and strings must be equal.
std::string difference(const Tensor& got, const Tensor& expected, Tolerance tolerance);

}  // namespace troupe::test
