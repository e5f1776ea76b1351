// Compares gradients with finite differences: the derivatives of a weighted sum of an op's outputs by each input of dtype double
// or complex128, once by gradients() and once by central differences. Ops that do not take these types are compared in float.
// One thread.
#pragma once

#include <optional>
#include <string>

#include "tests/support/ops/op_case.h"

namespace troupe::test {

/// Describes the first difference, or returns an empty text. Returns nothing if no input and output has one of these
/// types. `known` says what the graph knows about the inputs, because gradients are built differently for unknown shapes.
std::optional<std::string> gradient_mismatch(const OpCase& sample, Known known);

}  // namespace troupe::test
