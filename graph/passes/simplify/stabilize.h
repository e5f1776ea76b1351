// Stabilize: replaces expressions of floats that overflow, or lose their digits, by others of the same value that do not
// (features.md K4). It is part of the master's second pass, after simplify, which leaves every bit as it is. Plain values.
//
//   log(softmax(x))                          LogSoftmax(x)
//   log(sigmoid(x))                          -Softplus(-x)
//   log(exp(x) + 1), log1p(exp(x))           Softplus(x)
//   log(x + 1)                               Log1p(x)
//   exp(x) - 1                               Expm1(x)
//
// and what the gradients of the first three compute from the gradient g of their result:
//
//   (d - sum(d s)) s, d = g / s, s = softmax(x)    g - s sum(g)
//   SigmoidGrad(s, g / s), s = sigmoid(x)          g sigmoid(-x)
//   g / (exp(x) + 1) exp(x)                        SoftplusGrad(g, x)
#pragma once

#include "graph/passes/subgraph.h"

namespace troupe {

/// Applies the rules above to all nodes; nodes that are no longer needed stay. The inner nodes of an expression must not wait for
/// other nodes and must request the same device as the outermost one. Returns how many expressions were replaced. Fails with
/// InvalidArgument for a cycle.
Result<size_t> stabilize(Subgraph& subgraph);

}  // namespace troupe
