// Optimizers add gradients and update rules to a graph (features.md, section Q). Their slots are variables on the devices of the
// variables that they update. They use only the public builder and throw Error as it does. Public header; one thread at a time per
// graph.
#pragma once

#include <utility>
#include <vector>

#include "apps/nn/replication_strategy.h"
#include "graph/build/gradients.h"
#include "graph/build/variables.h"

#pragma GCC visibility push(default)
namespace troupe::nn {

/// A variable, and the gradient of the loss with respect to it, a dense tensor of the variable's shape.
struct VariableGradient {
  Output gradient, variable;
};

/// Returns the gradients of a loss with respect to those of the given variables on which it depends. `loss` is a tensor of a
/// floating type, usually a scalar. If `variables` is empty, all trainable variables are used.
std::vector<VariableGradient> compute_gradients(const Scope& scope, Output loss,
                                                std::vector<Output> variables = {});

class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// Returns a target that applies one update. `strategy` adds the update rules to the graph. Throws InvalidArgument if `gradients`
  /// is empty. Since slots are variables, the initializer must be created after this call.
  virtual Output apply_gradients(const Scope& scope, const std::vector<VariableGradient>& gradients,
                                 ReplicationStrategy& strategy) const = 0;
  /// Does the same with ReplicationStrategy: each rule is applied when the step reaches it.
  Output apply_gradients(const Scope& scope, const std::vector<VariableGradient>& gradients) const;
  /// Calls compute_gradients(), then apply_gradients().
  Output minimize(const Scope& scope, Output loss, std::vector<Output> variables = {}) const;
};

/// Gradient descent: v -= rate g.
class Sgd final : public Optimizer {
 public:
  explicit Sgd(double rate) : rate_(rate) {}
  using Optimizer::apply_gradients;
  Output apply_gradients(const Scope& scope, const std::vector<VariableGradient>& gradients,
                         ReplicationStrategy& strategy) const override;

 private:
  double rate_;
};

/// Momentum: a = momentum a + g; v -= rate a. With Nesterov momentum: v -= rate g + rate momentum a.
class Momentum final : public Optimizer {
 public:
  Momentum(double rate, double momentum, bool nesterov = false)
      : rate_(rate), momentum_(momentum), nesterov_(nesterov) {}
  using Optimizer::apply_gradients;
  Output apply_gradients(const Scope& scope, const std::vector<VariableGradient>& gradients,
                         ReplicationStrategy& strategy) const override;

 private:
  double rate_, momentum_;
  bool nesterov_;
};

/// Adam (Kingma and Ba 2014). The powers of beta1 and beta2 are variables (features.md Q5).
class Adam final : public Optimizer {
 public:
  explicit Adam(double rate, double beta1 = 0.9, double beta2 = 0.999, double epsilon = 1e-8)
      : rate_(rate), beta1_(beta1), beta2_(beta2), epsilon_(epsilon) {}
  using Optimizer::apply_gradients;
  Output apply_gradients(const Scope& scope, const std::vector<VariableGradient>& gradients,
                         ReplicationStrategy& strategy) const override;

 private:
  double rate_, beta1_, beta2_, epsilon_;
};

}  // namespace troupe::nn
#pragma GCC visibility pop
