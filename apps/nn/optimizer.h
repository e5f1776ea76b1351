// Optimizers add gradients and update rules to a graph (features.md, section Q). Their slots are variables on the devices of the
// variables that they update. They use only the public builder and throw Error as it does. Public header; one thread at a time per
// graph.
//
//   const Output step = nn::Adam(nn::cosine_decay(1e-3, 10'000)).minimize(g, loss);
//   const auto gradients = nn::clip_by_global_norm(g, nn::compute_gradients(g, loss), 1.0);
//   const Output other = nn::RmsProp(1e-3).apply_gradients(g, gradients);
#pragma once

#include <concepts>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/nn/gradients.h"
#include "apps/nn/replication_strategy.h"
#include "apps/nn/schedules.h"

#pragma GCC visibility push(default)
namespace troupe::nn {

class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// Returns whether gradients may be rows. If not, apply_gradients() makes them dense.
  virtual bool takes_rows() const = 0;
  /// Returns whether other tasks may apply its rules, variable by variable, to gradients of several replicas.
  virtual bool allows_replicas() const { return true; }
  /// Returns a target that applies one update. `strategy` adds the update rules to the graph. Throws InvalidArgument if `gradients`
  /// is empty. Since slots are variables, the initializer must be created after this call.
  virtual Output apply_gradients(const Scope& scope, const std::vector<VariableGradient>& gradients,
                                 ReplicationStrategy& strategy) const = 0;
  /// Does the same with ReplicationStrategy: each rule is applied when the step reaches it.
  Output apply_gradients(const Scope& scope, const std::vector<VariableGradient>& gradients) const;
  /// Calls compute_gradients(), then apply_gradients().
  Output minimize(const Scope& scope, Output loss, std::vector<Output> variables = {}) const;
};

/// A learning rate: a number, or a schedule.
class LearningRate {
 public:
  /// Throws InvalidArgument if the rate is negative or not finite, or the schedule is an empty function.
  LearningRate(double rate);
  template <class F>
  requires std::convertible_to<F, Schedule> LearningRate(F schedule)
      : schedule_(given(std::move(schedule))) {}
  /// Returns the rate times the value of a variable, a float scalar.
  LearningRate times(Output factor) const;

  bool is_constant() const { return !schedule_ && !factor_; }
  /// Returns the rate if it is constant.
  double constant() const { return rate_; }
  bool needs_step() const { return schedule_ != nullptr; }
  /// Returns the rate as a float scalar. `step` is the number of updates applied before, a float scalar; only schedules need it.
  Output at(const Scope& scope, Output step, ReplicationStrategy& strategy) const;

 private:
  static Schedule given(Schedule schedule);

  double rate_ = 0;
  Schedule schedule_;
  std::optional<Output> factor_;
};

/// By what the learning rate and the weight decay are multiplied for a variable.
struct UpdateFactors {
  double learning_rate = 1, weight_decay = 1;
};

using FactorsOf = std::function<UpdateFactors(Output variable)>;

/// The numbers of an optimizer by name, such as {"beta1", 0.9}. A flag is 0 or 1.
using Hyperparameters = std::map<std::string, double, std::less<>>;

struct OptimizerMethod;  // apps/nn/optimizer_methods.h

/// An optimizer that updates each variable by one op: any of the methods in optimizer_methods.h. If the gradient of a variable is
/// rows, rows that occur several times are summed first, and only those rows of the variable and of its slots change, except where
/// the class says otherwise.
class MethodOptimizer : public Optimizer {
 public:
  /// Hyperparameters that are not given have their default values. Throws InvalidArgument if there is no such method or
  /// hyperparameter.
  MethodOptimizer(std::string_view method, LearningRate rate, const Hyperparameters& given = {});
  using Optimizer::apply_gradients;
  /// Sets what later calls of apply_gradients() ask for the factors of each variable, which must be finite and at least 0.
  void set_factors(FactorsOf factors) { factors_ = std::move(factors); }
  bool takes_rows() const override;
  /// Throws InvalidArgument, too, if a factor is not allowed.
  Output apply_gradients(const Scope& scope, const std::vector<VariableGradient>& gradients,
                         ReplicationStrategy& strategy) const override;

 private:
  const OptimizerMethod& method_;
  LearningRate rate_;
  Hyperparameters numbers_;
  FactorsOf factors_;  ///< empty: all are 1
};

// The classes below name the hyperparameters of the methods. v is the variable, g its gradient, a, b and z are slots.

/// Gradient descent: v -= rate g.
class Sgd final : public MethodOptimizer {
 public:
  explicit Sgd(LearningRate rate) : MethodOptimizer("sgd", std::move(rate)) {}
};

/// Momentum: a = momentum a + g; v -= rate a. With Nesterov momentum: v -= rate g + rate momentum a.
class Momentum final : public MethodOptimizer {
 public:
  Momentum(LearningRate rate, double momentum, bool nesterov = false)
      : MethodOptimizer("momentum", std::move(rate),
                        {{"momentum", momentum}, {"nesterov", nesterov ? 1 : 0}}) {}
};

/// Adagrad (Duchi et al. 2011): a += g^2; v -= rate g / sqrt(a).
class Adagrad final : public MethodOptimizer {
 public:
  explicit Adagrad(LearningRate rate, double initial_accumulator = 0.1)
      : MethodOptimizer("adagrad", std::move(rate), {{"initial_accumulator", initial_accumulator}}) {}
};

/// Adagrad with dual averaging: a += g; b += g^2; v = -rate shrink(a, l1 t) / (rate l2 t + sqrt(b)) in update t. Variables should
/// begin with zeros.
class AdagradDa final : public MethodOptimizer {
 public:
  explicit AdagradDa(LearningRate rate, double l1 = 0, double l2 = 0, double initial_accumulator = 0.1)
      : MethodOptimizer("adagrad_da", std::move(rate),
                        {{"l1", l1}, {"l2", l2}, {"initial_accumulator", initial_accumulator}}) {}
};

/// Adadelta (Zeiler 2012): a = decay a + (1 - decay) g^2; u = sqrt(b + epsilon) / sqrt(a + epsilon) g;
/// b = decay b + (1 - decay) u^2; v -= rate u.
class Adadelta final : public MethodOptimizer {
 public:
  explicit Adadelta(LearningRate rate = 1, double decay = 0.95, double epsilon = 1e-8)
      : MethodOptimizer("adadelta", std::move(rate), {{"decay", decay}, {"epsilon", epsilon}}) {}
};

/// Adam (Kingma and Ba 2014). The powers of beta1 and beta2 are variables (features.md Q5). Where the gradient is rows, all rows
/// are updated, since the moments of all rows decay; such a gradient becomes dense. Set `lazy` to update only the rows that occur.
class Adam final : public MethodOptimizer {
 public:
  explicit Adam(LearningRate rate, double beta1 = 0.9, double beta2 = 0.999, double epsilon = 1e-8,
                bool lazy = false)
      : MethodOptimizer("adam", std::move(rate),
                        {{"beta1", beta1}, {"beta2", beta2}, {"epsilon", epsilon}, {"lazy", lazy ? 1 : 0}}) {}
};

/// Adam whose weights also decay: before each update, v -= rate weight_decay v (Loshchilov and Hutter 2019).
class AdamW final : public MethodOptimizer {
 public:
  explicit AdamW(LearningRate rate, double weight_decay = 0.01, double beta1 = 0.9, double beta2 = 0.999,
                 double epsilon = 1e-8, bool lazy = false)
      : MethodOptimizer("adamw", std::move(rate),
                        {{"weight_decay", weight_decay},
                         {"beta1", beta1},
                         {"beta2", beta2},
                         {"epsilon", epsilon},
                         {"lazy", lazy ? 1 : 0}}) {}
};

/// Adam with Nesterov momentum (Dozat 2016).
class Nadam final : public MethodOptimizer {
 public:
  explicit Nadam(LearningRate rate, double beta1 = 0.9, double beta2 = 0.999, double epsilon = 1e-8,
                 bool lazy = false)
      : MethodOptimizer("nadam", std::move(rate),
                        {{"beta1", beta1}, {"beta2", beta2}, {"epsilon", epsilon}, {"lazy", lazy ? 1 : 0}}) {}
};

/// Adam whose steps are divided by the largest second moment so far (Reddi et al. 2018).
class AmsGrad final : public MethodOptimizer {
 public:
  explicit AmsGrad(LearningRate rate, double beta1 = 0.9, double beta2 = 0.999, double epsilon = 1e-8,
                   bool lazy = false)
      : MethodOptimizer("amsgrad", std::move(rate),
                        {{"beta1", beta1}, {"beta2", beta2}, {"epsilon", epsilon}, {"lazy", lazy ? 1 : 0}}) {}
};

/// Adam with the infinity norm (Kingma and Ba 2014, section 7.1): a += (1 - beta1) (g - a); b = max(beta2 b, |g|);
/// v -= rate / (1 - beta1^t) a / (b + epsilon) in update t.
class AdaMax final : public MethodOptimizer {
 public:
  explicit AdaMax(LearningRate rate, double beta1 = 0.9, double beta2 = 0.999, double epsilon = 1e-8,
                  bool lazy = false)
      : MethodOptimizer("adamax", std::move(rate),
                        {{"beta1", beta1}, {"beta2", beta2}, {"epsilon", epsilon}, {"lazy", lazy ? 1 : 0}}) {}
};

/// Lion (Chen et al. 2023): v -= rate (sign(beta1 a + (1 - beta1) g) + weight_decay v); a += (1 - beta2) (g - a). Its rates are
/// about a tenth of Adam's. See Adam for `lazy`.
class Lion final : public MethodOptimizer {
 public:
  explicit Lion(LearningRate rate, double weight_decay = 0, double beta1 = 0.9, double beta2 = 0.99,
                bool lazy = false)
      : MethodOptimizer(
            "lion", std::move(rate),
            {{"weight_decay", weight_decay}, {"beta1", beta1}, {"beta2", beta2}, {"lazy", lazy ? 1 : 0}}) {}
};

/// LARS (You et al. 2017), for large batches: momentum whose rate is multiplied, for each variable, by
/// trust_coefficient |v| / (|g| + weight_decay |v| + epsilon), or by 1 if a norm is 0: a = momentum a + g + weight_decay v;
/// v -= rate a. The norms are those of a whole variable, of a partitioned one those of each part.
class Lars final : public MethodOptimizer {
 public:
  explicit Lars(LearningRate rate, double momentum = 0.9, double weight_decay = 1e-4,
                double trust_coefficient = 0.001, double epsilon = 0)
      : MethodOptimizer("lars", std::move(rate),
                        {{"momentum", momentum},
                         {"weight_decay", weight_decay},
                         {"trust_coefficient", trust_coefficient},
                         {"epsilon", epsilon}}) {}
};

/// LAMB (You et al. 2019), for large batches: the update u of Adam plus weight_decay v, whose rate is multiplied, for each
/// variable, by |v| / |u|, or by 1 if a norm is 0. See Lars for the norms.
class Lamb final : public MethodOptimizer {
 public:
  explicit Lamb(LearningRate rate, double weight_decay = 0.01, double beta1 = 0.9, double beta2 = 0.999,
                double epsilon = 1e-6)
      : MethodOptimizer(
            "lamb", std::move(rate),
            {{"weight_decay", weight_decay}, {"beta1", beta1}, {"beta2", beta2}, {"epsilon", epsilon}}) {}
};

/// AddSign (Bello et al. 2017): a += (1 - beta) (g - a); v -= rate (alpha + sign_decay sign(g) sign(a)) g. See Adam for `lazy`.
class AddSign final : public MethodOptimizer {
 public:
  explicit AddSign(LearningRate rate, double alpha = 1, double sign_decay = 1, double beta = 0.9,
                   bool lazy = false)
      : MethodOptimizer(
            "add_sign", std::move(rate),
            {{"alpha", alpha}, {"sign_decay", sign_decay}, {"beta", beta}, {"lazy", lazy ? 1 : 0}}) {}
};

/// PowerSign (Bello et al. 2017): a += (1 - beta) (g - a); v -= rate exp(log_base sign_decay sign(g) sign(a)) g. See Adam for
/// `lazy`.
class PowerSign final : public MethodOptimizer {
 public:
  explicit PowerSign(LearningRate rate, double log_base = 1, double sign_decay = 1, double beta = 0.9,
                     bool lazy = false)
      : MethodOptimizer(
            "power_sign", std::move(rate),
            {{"log_base", log_base}, {"sign_decay", sign_decay}, {"beta", beta}, {"lazy", lazy ? 1 : 0}}) {}
};

/// RMSProp: a = decay a + (1 - decay) g^2; b = momentum b + rate g / sqrt(a + epsilon); v -= b. If `centered`, the square of the
/// moving average of g is subtracted from a under the root.
class RmsProp final : public MethodOptimizer {
 public:
  explicit RmsProp(LearningRate rate, double decay = 0.9, double momentum = 0, double epsilon = 1e-10,
                   bool centered = false)
      : MethodOptimizer(centered ? "centered_rmsprop" : "rmsprop", std::move(rate),
                        {{"decay", decay}, {"momentum", momentum}, {"epsilon", epsilon}}) {}
};

/// FTRL-proximal (McMahan et al. 2013): a' = a + g^2; z += g + 2 shrinkage v - (a'^-power - a^-power) / rate v;
/// v = -shrink(z, l1) / (a'^-power / rate + 2 l2). `power` is not positive.
class Ftrl final : public MethodOptimizer {
 public:
  explicit Ftrl(LearningRate rate, double l1 = 0, double l2 = 0, double power = -0.5,
                double initial_accumulator = 0.1, double shrinkage = 0)
      : MethodOptimizer("ftrl", std::move(rate),
                        {{"l1", l1},
                         {"l2", l2},
                         {"power", power},
                         {"initial_accumulator", initial_accumulator},
                         {"shrinkage", shrinkage}}) {}
};

/// Proximal gradient descent (Duchi and Singer 2009): v = shrink(v - rate g, rate l1) / (1 + rate l2).
class ProximalSgd final : public MethodOptimizer {
 public:
  explicit ProximalSgd(LearningRate rate, double l1 = 0, double l2 = 0)
      : MethodOptimizer("proximal_sgd", std::move(rate), {{"l1", l1}, {"l2", l2}}) {}
};

/// Proximal Adagrad: a += g^2; r = rate / sqrt(a); v = shrink(v - r g, r l1) / (1 + r l2).
class ProximalAdagrad final : public MethodOptimizer {
 public:
  explicit ProximalAdagrad(LearningRate rate, double l1 = 0, double l2 = 0, double initial_accumulator = 0.1)
      : MethodOptimizer("proximal_adagrad", std::move(rate),
                        {{"l1", l1}, {"l2", l2}, {"initial_accumulator", initial_accumulator}}) {}
};

}  // namespace troupe::nn
#pragma GCC visibility pop
