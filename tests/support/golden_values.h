// Values that another program computed, as text: "float[2,3] 1 2 3 4 5 6" (tests/golden/make_op_values.py has the form), and how
// far ours may be from them. Test code; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "messages/values/tensor.h"

namespace troupe::test {

/// The parts of a text between single separators.
std::vector<std::string_view> parts_of(std::string_view text, char separator);

/// Throws Error when the text is no tensor.
Tensor tensor_from_text(std::string_view text);

/// How far a float may be off: by `relative` of the larger one, or by `absolute`. With neither it must be the same, the sign of a
/// zero too; NaN is NaN whatever its bits.
struct Tolerance {
  double relative = 0, absolute = 0;
};

/// What differs first, or an empty text. Integers, bools and strings must be equal.
std::string difference(const Tensor& got, const Tensor& expected, Tolerance tolerance);

}  // namespace troupe::test
