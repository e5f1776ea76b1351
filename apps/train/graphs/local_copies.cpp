#include "apps/train/graphs/local_copies.h"

#include <algorithm>

#include "apps/train/graphs/optimizer_builder.h"
#include "kernels/constructors.h"

namespace troupe::train {
namespace {

std::string name_of(const Scope& scope, Output variable) { return scope.graph().node(variable.node).name; }

bool is_trainable(const Graph& graph, Output variable) {
  return std::ranges::count(trainable_variables(graph), variable) > 0;
}

}  // namespace

Output LocalCopies::of(Output variable) {
  const auto known = copies_.find(variable.node);
  if (known != copies_.end()) return known->second;
  const Scope scope = builder_.at_shard(shard_);
  const Output copy = troupe::variable(scope.with_prefix("copy"), initial_value(scope.graph(), variable),
                                       name_of(scope, variable), false);
  copies_.emplace(variable.node, copy);
  if (is_floating(scope.dtype(variable))) averaged_.emplace_back(variable, copy);
  return copy;
}

Output LocalCopies::add_update(const config::Train& train, const Tower& tower) {
  const Scope scope = builder_.at_shard(shard_);
  rate_factor_ = train::rate_factor(train, scope);
  const auto optimizer = make_optimizer(train, rate_factor_, builder_.update_factors());
  std::vector<Output> trained;
  for (const auto& [variable, copy] : averaged_)
    if (is_trainable(scope.graph(), variable)) trained.push_back(copy);
  nn::ReplicationStrategy strategy;
  strategy.read_first(scope, {*tower.model.loss});
  std::vector<Output> updates = {optimizer->apply_gradients(
      scope, builder_.gradients(scope, *tower.model.loss, *optimizer, trained), strategy)};
  std::vector<AverageUpdate> averages = tower.averages;
  for (AverageUpdate& average : averages) average.variable = of(average.variable);
  if (!averages.empty()) updates.push_back(update_averages(scope, averages, strategy));
  return scope.group(updates);
}

std::vector<Output> LocalCopies::assign(const std::function<Output(Output variable)>& value) const {
  std::vector<Output> assigned;
  for (const auto& [variable, copy] : averaged_)
    assigned.push_back(builder_.root().colocated_with(copy).with_prefix("average").add_one(
        "Assign", {copy, value(variable)}));
  return assigned;
}

Output update_from_mean(const config::Replication& replication, const Scope& root, Output variable,
                        Output mean, nn::ReplicationStrategy& strategy) {
  const Scope scope = root.with_prefix("outer").with_prefix(name_of(root, variable));
  const Scope beside = scope.colocated_with(variable);
  if (!replication.outer || !is_trainable(root.graph(), variable))
    return strategy.apply(beside, {"Assign", {variable}, {mean}, {}});
  const nn::VariableGradient difference{sub(beside, variable, mean), variable};
  return make_optimizer(*replication.outer, replication.outer->learning_rate)
      ->apply_gradients(scope, {difference}, strategy);
}

bool averages_after(uint64_t round, const config::Train& train, int64_t rounds_per_epoch) {
  return round % static_cast<uint64_t>(train.replication.average_every) == 0 ||
         round % static_cast<uint64_t>(rounds_per_epoch) == 0 ||
         (train.max_steps && round == static_cast<uint64_t>(*train.max_steps));
}

}  // namespace troupe::train
