#include "apps/nn/weight_averages.h"

#include "graph/build/call.h"
#include "kernels/constructors.h"

namespace troupe::nn {

WeightAverages::WeightAverages(const Scope& scope, double decay, std::vector<Output> variables)
    : decay_(decay) {
  if (!(decay >= 0 && decay < 1))
    throw Error(invalid_argument("the decay of the averages of weights is " + std::to_string(decay) +
                                 "; it must be at least 0 and below 1"));
  if (variables.empty()) variables = trainable_variables(scope.graph());
  for (const Output& variable : variables) {
    const std::string name = scope.graph().node(scope.checked(variable).node).name;
    const Scope here =
        scope.in_context(nullptr).without_control().with_prefix("averages").colocated_with(variable);
    averages_.emplace_back(variable,
                           companion_variable(here, initial_value(scope.graph(), variable), name, variable));
  }
}

Output WeightAverages::of(Output variable) const {
  for (const auto& [known, average] : averages_)
    if (known == variable) return average;
  return variable;
}

Output WeightAverages::update(const Scope& scope, ReplicationStrategy& strategy) const {
  std::vector<Output> updates;
  for (const auto& [variable, average] : averages_) {
    const Scope here = scope.with_prefix(scope.graph().node(average.node).name).colocated_with(average);
    const Output rate = here.constant(value_or_throw(to_tensor(Argument(1 - decay_), here.dtype(average))));
    Rule rule{"ApplyMovingAverage", {average, variable}, {rate}, {}};
    rule.after = strategy.updates_of(variable);
    updates.push_back(strategy.apply(here, rule));
  }
  return scope.group(updates);
}

}  // namespace troupe::nn
