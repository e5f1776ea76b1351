// Gradients of ops that broadcast, for gradient functions: the gradient is summed over the axes along which an input was
// repeated. Free functions; the thread that builds the graph calls them.
#pragma once

#include "graph/build/gradients.h"

namespace troupe {

/// Sets the gradients of inputs 0 and 1 of an op that broadcasts them, from the gradients that they would have in the shape of
/// the output. If the known shapes determine which axes were repeated, this adds a Sum or nothing; else BroadcastGradientArgs
/// determines the axes during the step.
void set_broadcast_gradients(GradientContext& context, Output gradient_a, Output gradient_b);

/// Returns `gradient`, which has the shape to which `x` was broadcast, summed to the shape of x.
Output summed_to_shape_of(const Scope& scope, Output gradient, Output x);

/// Returns the complex conjugate of x, or x itself if it is real.
Output conjugate(const Scope& scope, Output x);

}  // namespace troupe
