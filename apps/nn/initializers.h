// First values of variables, as nodes: random ones are keyed by the session's seed and the node's name, so they do not depend on
// the order of construction. Shapes must be fully known: nn::glorot_uniform(g, {784, 100}). Throws Error like the builder.
#pragma once

#include "graph/build/scope.h"

#pragma GCC visibility push(default)
namespace troupe::nn {

/// Every element is `value`.
Output constant_value(const Scope& scope, const PartialShape& shape, DType dtype, double value);
/// Uniform in [minimum, maximum).
Output uniform(const Scope& scope, const PartialShape& shape, DType dtype, double minimum, double maximum);
Output normal(const Scope& scope, const PartialShape& shape, DType dtype, double mean, double stddev);
/// Normal, values beyond two standard deviations drawn again.
Output truncated_normal(const Scope& scope, const PartialShape& shape, DType dtype, double mean,
                        double stddev);

// The ones below are for weights [..., in, out]; leading dimensions multiply both.

/// Uniform within +-sqrt(6 / (in + out)): Glorot and Bengio 2010.
Output glorot_uniform(const Scope& scope, const PartialShape& shape, DType dtype = f32);
/// Truncated normal of variance 2 / (in + out).
Output glorot_normal(const Scope& scope, const PartialShape& shape, DType dtype = f32);
/// Truncated normal of variance 2 / in: He et al. 2015.
Output he_normal(const Scope& scope, const PartialShape& shape, DType dtype = f32);

}  // namespace troupe::nn
#pragma GCC visibility pop
