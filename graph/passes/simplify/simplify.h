// Simplify: produces the same results with fewer nodes (features.md K1-K4; white paper, section 5.1). It removes
// nodes that nothing needs and nodes that only forward their input, merges nodes that compute the same, and
// computes in advance what depends on constants only. It is the second of the master's passes. Plain values.
//
// Results keep all their bits, except that a signalling NaN may become quiet,
// and a NaN computed from two NaNs may have the payload of the other one.
//
// Failures: ops that exist to fail (Effect::Guard: CheckNumerics, Assert) run whenever they would have run. The
// failure of a pure op (shapes that do not fit, an index out of range, a division by zero) disappears together with
// the op: if no node uses its outputs, or only their shape, which is known, or if other nodes only wait for it.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "graph/passes/subgraph.h"

namespace troupe {

/// Computes the outputs of a node of the graph from its inputs (kernels/runtime/evaluate.h).
using Evaluate =
    std::function<Result<std::vector<Tensor>>(const Graph&, const Node&, std::span<const Tensor> inputs)>;

struct SimplifyOptions {
  Evaluate evaluate;                           ///< empty: no node is computed in advance
  size_t largest_constant = size_t{10} << 20;  ///< bytes; larger results are computed by the step (K3)
  int rounds = 10;                             ///< the maximum number of sweeps over the graph
};

/// How many nodes were changed.
struct SimplifyReport {
  size_t folded = 0;    ///< replaced by constants
  size_t bypassed = 0;  ///< forwarded their input only
  size_t merged = 0;    ///< computed the same as another node
  size_t removed = 0;   ///< removed from the graph, for any of these reasons
  int rounds = 0;
};

/// Applies the following rules until nothing changes. Roots, nodes that others are colocated with, guards, and all nodes
/// with an effect outside the step are kept; the ids of the roots are updated. Fails with InvalidArgument for a cycle.
///  - Folding: a node is replaced by constants if it is pure, served by a kernel, and all its inputs are constants, whose control
///    inputs it gets. Shape, Size and Rank are replaced if the shape is known, BroadcastGradientArgs if both shapes are known to
///    be equal. A node that cannot be evaluated stays, and fails in the step.
///  - Bypassing: Identity, StopGradient, Cast to the same type, Neg of Neg, Transpose of its inverse, Reshape to the same shape,
///    sums along the dimensions in which equal shapes differ, reductions along no axis, and x * 1, x / 1, x + 0, x - 0 where that
///    is exact (x + 0.0 is not: x may be -0.0) and keeps the shape. A read of a variable is not bypassed, nor a node that has
///    control inputs, or requests another device than its input. In a branch or a loop, a Reshape or a sum is bypassed only if its
///    second input is alive whenever the first one is (graph/passes/liveness.h).
///  - A control edge from a pure node that no other node needs becomes one from each of its inputs. So gradients that TensorFlow's
///    optimizers only wait for are not computed.
///  - Merging: pure nodes with the same op, attributes, inputs, control inputs and requested devices (K2).
Result<SimplifyReport> simplify(Subgraph& subgraph, const SimplifyOptions& options);

}  // namespace troupe
