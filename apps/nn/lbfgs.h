// L-BFGS: a quasi-Newton method whose state and arithmetic are nodes of the graph. Public header; one thread at a time per graph.
#pragma once

#include "apps/nn/optimizer.h"

#pragma GCC visibility push(default)
namespace troupe::nn {

/// Limited-memory BFGS (Liu and Nocedal 1989; the two-loop recursion of Nocedal 1980), without a line search: each update moves
/// all variables by rate * H gradient, where H estimates the inverse of the Hessian from the last `history` updates. The first
/// update is shortened to at most a sum of `rate` over all elements. An update whose gradient does not grow along its direction is
/// not remembered, so H stays positive definite. For gradients of whole data sets; those of small batches differ too much from
/// step to step. The state holds 2 * history + 2 numbers for each element of the variables, on the device of the first variable.
class Lbfgs final : public Optimizer {
 public:
  /// Throws InvalidArgument unless history is positive.
  explicit Lbfgs(LearningRate rate = 1, int64_t history = 10);
  using Optimizer::apply_gradients;
  bool takes_rows() const override { return false; }
  bool allows_replicas() const override { return false; }
  /// Throws InvalidArgument if the variables differ in their dtypes.
  Output apply_gradients(const Scope& scope, const std::vector<VariableGradient>& gradients,
                         ReplicationStrategy& strategy) const override;

 private:
  LearningRate rate_;
  int64_t history_;
};

}  // namespace troupe::nn
#pragma GCC visibility pop
