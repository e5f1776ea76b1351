#include "apps/nn/optimizer.h"

#include "graph/call.h"
#include "kernels/constructors.h"

namespace troupe::nn {
namespace {

Output scalar_like(const Scope& scope, double value, Output like) {
  return scope.constant(value_or_throw(to_tensor(Argument(value), scope.dtype(like))));
}

/// The scope for what belongs to one variable: named after it and on its device.
Scope beside(const Scope& scope, Output variable) {
  return scope.colocated_with(variable).with_prefix(scope.graph().node(variable.node).name);
}

/// A variable of the same shape, beginning as zeros, for the optimizer's own use.
Output slot(const Scope& scope, Output variable, std::string_view name) {
  return troupe::variable(scope, zeros(scope, scope.shape(variable), scope.dtype(variable)), name, false);
}

void require_some(const std::vector<VariableGradient>& gradients) {
  if (gradients.empty()) throw Error(invalid_argument("the loss depends on no trainable variable"));
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

Output Optimizer::minimize(const Scope& scope, Output loss, std::vector<Output> variables) const {
  return apply_gradients(scope, compute_gradients(scope, loss, std::move(variables)));
}

Output Sgd::apply_gradients(const Scope& scope, const std::vector<VariableGradient>& gradients) const {
  require_some(gradients);
  const Scope inner = scope.with_prefix("sgd");
  std::vector<Output> updates;
  for (const auto& [gradient, variable] : gradients)
    updates.push_back(
        beside(inner, variable)
            .add_one("ApplyGradientDescent", {variable, scalar_like(inner, rate_, variable), gradient}));
  return inner.group(updates);
}

Output Momentum::apply_gradients(const Scope& scope, const std::vector<VariableGradient>& gradients) const {
  require_some(gradients);
  const Scope inner = scope.with_prefix("momentum");
  std::vector<Output> updates;
  for (const auto& [gradient, variable] : gradients) {
    const Scope here = beside(inner, variable);
    updates.push_back(
        here.add_one("ApplyMomentum",
                     {variable, slot(here, variable, "accumulator"), scalar_like(inner, rate_, variable),
                      gradient, scalar_like(inner, momentum_, variable)},
                     {{"use_nesterov", nesterov_}}));
  }
  return inner.group(updates);
}

Output Adam::apply_gradients(const Scope& scope, const std::vector<VariableGradient>& gradients) const {
  require_some(gradients);
  const Scope inner = scope.with_prefix("adam");
  const Output first = gradients.front().variable;
  const Scope shared = inner.colocated_with(first);
  const Output beta1 = scalar_like(inner, beta1_, first), beta2 = scalar_like(inner, beta2_, first);
  const Output power1 = variable(shared, beta1, "beta1_power", false),
               power2 = variable(shared, beta2, "beta2_power", false);
  const Output rate = scalar_like(inner, rate_, first), epsilon = scalar_like(inner, epsilon_, first);
  std::vector<Output> updates;
  for (const auto& [gradient, variable] : gradients) {
    const Scope here = beside(inner, variable);
    const Output m = slot(here, variable, "m"), v = slot(here, variable, "v");
    updates.push_back(
        here.add_one("ApplyAdam", {variable, m, v, power1, power2, rate, beta1, beta2, epsilon, gradient}));
  }
  const Scope after = shared.with_control(updates);
  for (const auto& [power, beta] : {std::pair{power1, beta1}, std::pair{power2, beta2}})
    updates.push_back(shared.add_one("Assign", {power, after.add_one("Mul", {power, beta})}));
  return inner.group(updates);
}

}  // namespace troupe::nn
