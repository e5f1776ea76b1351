// Simplify: the same results with fewer nodes (features.md K1-K4; white paper, section 5.1): removes what nothing needs and
// what only passes its input on, computes once what is asked for twice, and beforehand what depends on constants alone.
// Second of the master's passes. Plain values.
//
// Results stay bit for bit what they were, but that a signalling NaN may lose its signal and a NaN made of two may carry the
// other's payload.
//
// Failures: ops that exist to fail (Effect::Guard: CheckNumerics, Assert) run whenever they would have run. The failure of a pure
// op (a shape that does not fit, an index out of range, a division by zero) disappears with the op: when nobody uses its outputs,
// or only their shape, which is known, or when others only wait for it.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "graph/passes/subgraph.h"

namespace troupe {

/// The outputs of a node, one of the graph's, computed from its inputs (kernels/runtime/evaluate.h does it).
using Evaluate =
    std::function<Result<std::vector<Tensor>>(const Graph&, const Node&, std::span<const Tensor> inputs)>;

struct SimplifyOptions {
  Evaluate evaluate;                           ///< empty: nothing is computed beforehand
  size_t largest_constant = size_t{10} << 20;  ///< bytes; a bigger result is left to the step (K3)
  int rounds = 10;
};

/// What became of nodes.
struct SimplifyReport {
  size_t folded = 0;    ///< made constants
  size_t bypassed = 0;  ///< only passed their input on
  size_t merged = 0;    ///< computed what another node does
  size_t removed = 0;   ///< all that left the graph
  int rounds = 0;
};

/// Repeats all of it until nothing changes. Roots, nodes that others are colocated with, guards, and everything with an effect outside
/// the step stay; the ids of the roots are updated. InvalidArgument for a cycle.
///  - A node is folded when it is pure, served by a kernel and has constants for inputs, of which it takes over the control inputs;
///    and Shape, Size and Rank when the shape is known. One that cannot be evaluated is left to fail in the step.
///  - Bypassed are Identity, StopGradient, Cast to the same type, Neg of Neg, Transpose of its inverse, and x * 1, x / 1, x + 0, x - 0
///    where that is exact (x + 0.0 is not: x may be -0.0) and keeps the shape; never a read of a variable, nor what has control
///    inputs or asks for another device than its input.
///  - A control edge from a pure node that nobody else needs becomes one from each of its inputs; so the gradients that TensorFlow's
///    optimizers only wait for are not computed.
///  - Merged are pure nodes of equal op, attributes, inputs, control inputs and requested devices (K2).
Result<SimplifyReport> simplify(Subgraph& subgraph, const SimplifyOptions& options);

}  // namespace troupe
