// First values of variables, as nodes: random ones are keyed by the session's seed and the node's name, so they do not depend on
// the order of construction. Throws Error like the builder. Public header.
#pragma once

#include "graph/scope.h"

namespace troupe::nn {

/// Every element is `value`.
Output constant_value(const Scope& scope, const Shape& shape, DType dtype, double value);
/// Uniform in [minimum, maximum).
Output uniform(const Scope& scope, const Shape& shape, DType dtype, double minimum, double maximum);
Output normal(const Scope& scope, const Shape& shape, DType dtype, double mean, double stddev);
/// Normal, values beyond two standard deviations drawn again.
Output truncated_normal(const Scope& scope, const Shape& shape, DType dtype, double mean, double stddev);

/// What flows in and out of a weight of this shape: [..., in, out], leading dimensions multiply both.
struct Fans {
  double in = 1, out = 1;
};
Fans fans(const Shape& shape);

/// Uniform within +-sqrt(6 / (in + out)): Glorot and Bengio 2010.
Output glorot_uniform(const Scope& scope, const Shape& shape, DType dtype);
/// Truncated normal of variance 2 / (in + out).
Output glorot_normal(const Scope& scope, const Shape& shape, DType dtype);
/// Truncated normal of variance 2 / in: He et al. 2015.
Output he_normal(const Scope& scope, const Shape& shape, DType dtype);

}  // namespace troupe::nn
