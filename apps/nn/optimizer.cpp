#include "apps/nn/optimizer.h"

#include "graph/build/call.h"
#include "kernels/constructors.h"

namespace troupe::nn {
namespace {

Output scalar_like(const Scope& scope, double value, Output like) {
  return scope.constant(value_or_throw(to_tensor(Argument(value), scope.dtype(like))));
}

/// Returns a scope for the nodes that belong to a variable, with its name as prefix and on its device.
Scope beside(const Scope& scope, Output variable) {
  return scope.colocated_with(variable).with_prefix(scope.graph().node(variable.node).name);
}

/// Adds a slot: a variable of the same shape that the optimizer uses and that is initially zero.
Output slot(const Scope& scope, Output variable, std::string_view name) {
  return troupe::variable(scope, zeros(scope, scope.shape(variable), scope.dtype(variable)), name, false);
}

void require_some(const std::vector<VariableGradient>& gradients) {
  if (gradients.empty())
    throw Error(
        invalid_argument("there are no gradients to apply: the loss depends on no trainable variable"));
}

}  // namespace

std::vector<VariableGradient> compute_gradients(const Scope& scope, Output loss,
                                                std::vector<Output> variables) {
  if (variables.empty()) variables = trainable_variables(scope.graph());
  const auto found = gradients(scope, {loss}, variables);
  std::vector<VariableGradient> result;
  for (size_t i = 0; i < variables.size(); ++i)
    if (!std::holds_alternative<std::monostate>(found[i]))
      result.push_back({dense(scope, found[i], variables[i]), variables[i]});
  return result;
}

Output Optimizer::apply_gradients(const Scope& scope, const std::vector<VariableGradient>& gradients) const {
  ReplicationStrategy none;
  return apply_gradients(scope, gradients, none);
}

Output Optimizer::minimize(const Scope& scope, Output loss, std::vector<Output> variables) const {
  return apply_gradients(scope, compute_gradients(scope, loss, std::move(variables)));
}

Output Sgd::apply_gradients(const Scope& scope, const std::vector<VariableGradient>& gradients,
                            ReplicationStrategy& strategy) const {
  require_some(gradients);
  const Scope inner = scope.with_prefix("sgd");
  std::vector<Output> applied;
  for (const auto& [gradient, variable] : gradients)
    applied.push_back(strategy.apply(
        beside(inner, variable),
        {"ApplyGradientDescent", {variable}, {scalar_like(inner, rate_, variable), gradient}, "delta"}));
  return inner.group(applied);
}

Output Momentum::apply_gradients(const Scope& scope, const std::vector<VariableGradient>& gradients,
                                 ReplicationStrategy& strategy) const {
  require_some(gradients);
  const Scope inner = scope.with_prefix("momentum");
  std::vector<Output> applied;
  for (const auto& [gradient, variable] : gradients) {
    const Scope here = beside(inner, variable);
    Rule rule{"ApplyMomentum",
              {variable, slot(here, variable, "accumulator")},
              {scalar_like(inner, rate_, variable), gradient, scalar_like(inner, momentum_, variable)},
              "grad"};
    if (nesterov_) rule.options.emplace_back("use_nesterov");
    applied.push_back(strategy.apply(here, rule));
  }
  return inner.group(applied);
}

Output Adam::apply_gradients(const Scope& scope, const std::vector<VariableGradient>& gradients,
                             ReplicationStrategy& strategy) const {
  require_some(gradients);
  const Scope inner = scope.with_prefix("adam");
  const Output first = gradients.front().variable;
  const Scope shared = inner.colocated_with(first);
  const Output beta1 = scalar_like(inner, beta1_, first), beta2 = scalar_like(inner, beta2_, first);
  const Output power1 = variable(shared, beta1, "beta1_power", false),
               power2 = variable(shared, beta2, "beta2_power", false);
  std::vector<Output> applied;
  for (const auto& [gradient, variable] : gradients) {
    const Scope here = beside(inner, variable);
    const auto number = [&, &like = variable](double value) {
      return scalar_like(here, value, like);  // on the device of the variable
    };
    applied.push_back(strategy.apply(here, {"ApplyAdam",
                                            {variable, slot(here, variable, "m"), slot(here, variable, "v")},
                                            {strategy.value(power1), strategy.value(power2), number(rate_),
                                             number(beta1_), number(beta2_), number(epsilon_), gradient},
                                            "grad"}));
  }
  const Scope after = strategy.after(shared, applied);
  for (const auto& [power, beta] : {std::pair{power1, beta1}, std::pair{power2, beta2}})
    applied.push_back(strategy.apply(
        shared, {"Assign", {power}, {after.add_one("Mul", {strategy.value(power), beta})}, {}}));
  return inner.group(applied);
}

}  // namespace troupe::nn
