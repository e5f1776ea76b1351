// The gradient of an op that is a gradient itself, by differentiating its formula.
#pragma once

#include <functional>

#include "graph/build/gradients.h"

namespace troupe {

/// Returns the outputs of an op, the first ones, made of other ops from its inputs.
using Formula = std::function<std::vector<Output>(const std::vector<Output>& inputs)>;

/// Sets the gradients by the first `count` inputs from those of as many outputs, which `formula` computes from these inputs.
void differentiate_formula(GradientContext& context, size_t count, const Formula& formula);

}  // namespace troupe
