// Initializers: functions that add nodes for the initial values of variables. Random values depend on the seed of the session and
// the name of the node, not on the order of construction. Shapes must be fully known: nn::glorot_uniform(g, {784, 100}). The
// functions throw Error as the graph builder does. Public header; one thread at a time per graph.
#pragma once

#include <functional>
#include <string_view>

#include "graph/build/scope.h"

#pragma GCC visibility push(default)
namespace troupe::nn {

/// Returns a tensor in which every element is `value`.
Output constant_value(const Scope& scope, const PartialShape& shape, DType dtype, double value);
/// Draws from the uniform distribution over [minimum, maximum).
Output uniform(const Scope& scope, const PartialShape& shape, DType dtype, double minimum, double maximum);
/// Draws from the normal distribution.
Output normal(const Scope& scope, const PartialShape& shape, DType dtype, double mean, double stddev);
/// Draws from the normal distribution; values more than two standard deviations from the mean are drawn again.
Output truncated_normal(const Scope& scope, const PartialShape& shape, DType dtype, double mean,
                        double stddev);

/// Draws from the uniform distribution over +-0.05, as tables of embeddings do unless told otherwise.
Output small_uniform(const Scope& scope, const PartialShape& shape, DType dtype = f32);

/// A function that adds nodes for the first value of a weight, such as glorot_uniform().
using Initial = std::function<Output(const Scope&, const PartialShape&, DType)>;
/// The names of the initializers of weights that need no numbers.
inline constexpr std::string_view weight_initializers =
    "zeros|ones|glorot_uniform|glorot_normal|he_uniform|he_normal|lecun_normal|orthogonal";
/// Returns the initializer of this name among weight_initializers, or null.
Initial find_initializer(std::string_view name);
/// Returns the initializer that gives every element this value.
Initial all_equal(double value);

// The functions below are for weights of shape [..., in, out]. The number of inputs is `in`, and that of outputs `out`, times the
// product of the leading dimensions.

/// Draws from the uniform distribution over +-sqrt(6 / (inputs + outputs)) (Glorot and Bengio 2010).
Output glorot_uniform(const Scope& scope, const PartialShape& shape, DType dtype = f32);
/// Draws from the truncated normal distribution of variance 2 / (inputs + outputs).
Output glorot_normal(const Scope& scope, const PartialShape& shape, DType dtype = f32);
/// Draws from the uniform distribution over +-sqrt(6 / inputs) (He et al. 2015).
Output he_uniform(const Scope& scope, const PartialShape& shape, DType dtype = f32);
/// Draws from the truncated normal distribution of variance 2 / inputs (He et al. 2015).
Output he_normal(const Scope& scope, const PartialShape& shape, DType dtype = f32);
/// Draws from the truncated normal distribution of variance 1 / inputs (LeCun et al. 1998).
Output lecun_normal(const Scope& scope, const PartialShape& shape, DType dtype = f32);
/// Draws a random matrix of shape [..., out], all dimensions but the last in one, whose columns, or else whose rows, are
/// orthogonal and of length 1 (Saxe et al. 2014). Throws InvalidArgument unless the shape has two dimensions or more.
Output orthogonal(const Scope& scope, const PartialShape& shape, DType dtype = f32);

}  // namespace troupe::nn
#pragma GCC visibility pop
