// The backward side of broadcasting, for gradient functions: what broadcasting repeated is summed.
#pragma once

#include "graph/build/gradients.h"

namespace troupe {

/// Sets the gradients of inputs 0 and 1 of an op that broadcasts them, from what each would be at the shape
/// of the output. Where the known shapes say which axes were repeated this adds a Sum or nothing; else
/// BroadcastGradientArgs finds out in the step.
void set_broadcast_gradients(GradientContext& context, Output gradient_a, Output gradient_b);

/// `gradient`, of the shape that `x` was broadcast to, summed over what was repeated: of the shape of x.
Output summed_to_shape_of(const Scope& scope, Output gradient, Output x);

/// The complex conjugate; x itself when it is real.
Output conjugate(const Scope& scope, Output x);

}  // namespace troupe
