// Optimizers (features.md section Q): gradients and update rules added to a graph, with their slots as variables beside those
// they change. Built from the public builder alone. Throw Error like the builder. Public header.
#pragma once

#include <utility>
#include <vector>

#include "apps/nn/replication_strategy.h"
#include "graph/build/gradients.h"
#include "graph/build/variables.h"

#pragma GCC visibility push(default)
namespace troupe::nn {

/// The gradient of the loss with respect to a variable, dense; and the variable.
struct VariableGradient {
  Output gradient, variable;
};

/// d(loss)/d(variable) for each variable that the loss depends on; by default all trainable ones.
std::vector<VariableGradient> compute_gradients(const Scope& scope, Output loss,
                                                std::vector<Output> variables = {});

class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// A target that applies one update, with update rules that `strategy` adds to the graph. InvalidArgument when there is nothing
  /// to update. Slots are variables: make the initializer after this.
  virtual Output apply_gradients(const Scope& scope, const std::vector<VariableGradient>& gradients,
                                 ReplicationStrategy& strategy) const = 0;
  /// The same with rules that are applied at once.
  Output apply_gradients(const Scope& scope, const std::vector<VariableGradient>& gradients) const;
  /// compute_gradients, then apply_gradients.
  Output minimize(const Scope& scope, Output loss, std::vector<Output> variables = {}) const;
};

/// v -= rate g
class Sgd final : public Optimizer {
 public:
  explicit Sgd(double rate) : rate_(rate) {}
  using Optimizer::apply_gradients;
  Output apply_gradients(const Scope& scope, const std::vector<VariableGradient>& gradients,
                         ReplicationStrategy& strategy) const override;

 private:
  double rate_;
};

/// a = momentum a + g; v -= rate a (Nesterov: v -= rate g + rate momentum a)
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

/// Kingma and Ba 2014, with the powers of beta kept as variables (features.md Q5).
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
