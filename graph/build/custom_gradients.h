// The gradient builders of this process (custom_gradient.h), for gradients(). Any thread.
#pragma once

#include <cstddef>

#include "graph/build/custom_gradient.h"
#include "graph/build/program_functions.h"

namespace troupe {

struct RegisteredGradient {
  size_t ys = 0;  ///< the node has the ys as its first inputs, and the xs as the others
  GradientBuilder build;
};

ProgramFunctions<RegisteredGradient>& custom_gradients();

/// Returns whether the node names a gradient function (gradient_function_attr).
bool has_custom_gradient(const Node& node);
/// Sets the gradients of the inputs of such a node. Throws Error(Unimplemented) if this process does not have
/// the function that the attribute names, and InvalidArgument if it returns too few or too many gradients.
void build_custom_gradient(GradientContext& context);

}  // namespace troupe
