// Gradients against finite differences: the derivative of a weighted sum of an op's outputs by each input of dtype double or
// complex128, once by gradients() and once by central differences. Test code; one thread.
#pragma once

#include <optional>
#include <string>

#include "tests/support/op_case.h"

namespace troupe::test {

/// What differs, or an empty text; nothing when no input and output are of these types. `known` says what the graph
/// knows of the inputs, for gradients take other ways when shapes are open.
std::optional<std::string> gradient_mismatch(const OpCase& sample, Known known);

}  // namespace troupe::test
