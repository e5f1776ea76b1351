// The gradients of a loss with respect to variables, and what is done to them before an optimizer applies them: clipping and weight
// decay. The functions add nodes with the public builder and throw Error as it does. They keep gradients that are rows as rows,
// with the rows that do not occur as zeros. Public header; one thread at a time per graph.
#pragma once

#include <functional>
#include <vector>

#include "graph/build/gradients.h"
#include "graph/build/variables.h"

#pragma GCC visibility push(default)
namespace troupe::nn {

/// A variable, and the gradient of the loss with respect to it: a dense tensor of the variable's shape, or some of its rows
/// (IndexedSlices) if the loss depends on the variable only through Gather.
struct VariableGradient {
  Gradient gradient;
  Output variable;
};

/// Returns the gradients of a loss with respect to those of the given variables on which it depends. `loss` is a tensor of a
/// floating type, usually a scalar. If `variables` is empty, all trainable variables are used.
std::vector<VariableGradient> compute_gradients(const Scope& scope, Output loss,
                                                std::vector<Output> variables = {});

/// Returns the scope for what concerns one of several gradients.
using ScopeOfGradient = std::function<Scope(const Scope& scope, const VariableGradient& gradient)>;

// ---- Clipping. Limits are above 0; infinity leaves the gradients as they are.

/// Limits each element to [-limit, limit].
std::vector<VariableGradient> clip_by_value(const Scope& scope, std::vector<VariableGradient> gradients,
                                            double limit);
/// Scales each gradient whose L2 norm is larger than `norm` to that norm.
std::vector<VariableGradient> clip_by_norm(const Scope& scope, std::vector<VariableGradient> gradients,
                                           double norm);
/// Returns the L2 norm of all gradients together, a scalar. They must have one dtype. In rows, an index that occurs several times
/// counts as several rows. The
/// sums of squares are computed in the scopes `at`; empty: in `scope`.
Output global_norm(const Scope& scope, const std::vector<VariableGradient>& gradients,
                   const ScopeOfGradient& at = {});
/// If the global norm is larger than `norm`, scales all gradients so that it equals `norm`. If it is not finite, all gradients
/// become NaN. Each gradient is scaled in its scope `at`; empty: in `scope`.
std::vector<VariableGradient> clip_by_global_norm(const Scope& scope, std::vector<VariableGradient> gradients,
                                                  double norm, const ScopeOfGradient& at = {});
/// Adds rate * variable to each gradient: the gradient of rate / 2 times the square of the L2 norm of the variable. Where a
/// gradient is rows, only those rows of the variable decay.
std::vector<VariableGradient> add_weight_decay(const Scope& scope, std::vector<VariableGradient> gradients,
                                               double rate);

/// Returns the rows with each index once, in the order in which the indices occur first. Rows of the same index are summed, in
/// order.
IndexedSlices distinct_rows(const Scope& scope, const IndexedSlices& rows);
/// Returns a copy of `gradients` in which every gradient is dense.
std::vector<VariableGradient> all_dense(const Scope& scope, std::vector<VariableGradient> gradients);
/// Returns the tensor of a gradient: the dense gradient, or the values of the rows. The gradient must not be empty.
Output values_of(const Gradient& gradient);
/// Returns the gradient with another tensor of the same shape in place of values_of(gradient).
Gradient with_values(const Gradient& gradient, Output values);

}  // namespace troupe::nn
#pragma GCC visibility pop
