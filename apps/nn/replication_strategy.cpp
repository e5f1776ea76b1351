#include "apps/nn/replication_strategy.h"

#include <algorithm>

#include "graph/build/frames.h"

namespace troupe::nn {
namespace {

const std::string& name_of(const Scope& scope, Output variable) {
  return scope.graph().node(variable.node).name;
}

/// Returns the nodes that these outputs depend on, in any order.
std::vector<NodeId> needed_nodes(const Graph& graph, const std::vector<Output>& outputs) {
  std::vector<bool> known(graph.size(), false);
  std::vector<NodeId> needed;
  const auto add = [&](NodeId node) {
    if (!known[node]) needed.push_back(node);
    known[node] = true;
  };
  for (const Output& output : outputs) add(output.node);
  for (size_t next = 0; next < needed.size(); ++next) {
    const Node& node = graph.node(needed[next]);
    for (const Output& input : node.inputs) add(input.node);
    for (const NodeId control : node.control_inputs) add(control);
  }
  return needed;
}

}  // namespace

Output ReplicationStrategy::apply(const Scope& scope, const Rule& rule) {
  const Output applied = add(scope, rule);
  for (const Output& variable : rule.variables) applied_[variable.node].push_back(applied);
  return applied;
}

Output ReplicationStrategy::add(const Scope& scope, const Rule& rule) {
  std::vector<Output> inputs = rule.variables;
  inputs.insert(inputs.end(), rule.values.begin(), rule.values.end());
  Attributes attrs;
  for (const std::string& option : rule.options) attrs.set(option, true);
  std::vector<Output> before = rule.after;
  for (const Output& variable : rule.variables)
    before.insert(before.end(), readers_[variable.node].begin(), readers_[variable.node].end());
  return scope.with_control(before).add_one(rule.op, std::move(inputs), std::move(attrs));
}

void ReplicationStrategy::read_first(const Scope& scope, const std::vector<Output>& results) {
  const Graph& graph = scope.graph();
  for (const Output& result : results)
    if (const Status status = graph.check(result); !status.ok())
      throw Error(invalid_argument("an output that must read variables before they change " + status.text()));
  for (const NodeId id : needed_nodes(graph, results)) {
    const Node& node = graph.node(id);
    if (flow_kind(node) == FlowKind::Enter)
      continue;  // runs inside the loop, for which nothing outside can wait
    for (const Output& input : node.inputs)
      if (graph.type(input).is_ref) readers_[input.node].insert(graph.output(id, Output::control));
  }
}

Output LocalValues::of(Output variable) {
  scope_.checked(variable);
  const auto known = std::ranges::find_if(all_, [&](const auto& entry) { return entry.first == variable; });
  if (known != all_.end()) return known->second;
  const Output placeholder =
      scope_.with_prefix(name_of(scope_, variable))
          .with_name("value")
          .add_one("Placeholder", {}, {{"dtype", scope_.dtype(variable)}, {"shape", scope_.shape(variable)}});
  all_.emplace_back(variable, placeholder);
  return placeholder;
}

Output SyncReplicas::add(const Scope& scope, const Rule& rule) {
  const Output variable = rule.variables.front();
  const Scope beside = Scope(scope.graph()).colocated_with(variable);
  rounds_.push_back(troupe::variable(beside.with_prefix(name_of(scope, variable)),
                                     beside.constant(Tensor::scalar<int64_t>(0)), "round", false));
  for (const Output& updated : rule.variables) counters_[updated.node].push_back(rounds_.back());
  if (options_.training != 0) pushes_.push_back(push(scope, rule, false));
  const Output target = push(scope, rule, true);
  counter_of_.emplace(target.node, rounds_.back());
  return target;
}

Output SyncReplicas::push(const Scope& scope, const Rule& rule, bool wait) const {
  std::vector<Output> inputs{rounds_.back()};
  inputs.insert(inputs.end(), rule.variables.begin(), rule.variables.end());
  inputs.insert(inputs.end(), rule.values.begin(), rule.values.end());
  inputs.push_back(samples_);
  for (const Output& earlier : rule.after) inputs.push_back(counter_of_.at(earlier.node));
  const bool is_combined = options_.combination && !rule.gradient.empty() && !rule.is_averaged;
  const FunctionName combine{
      is_combined ? combining_function(scope, scope.dtype(rule.variables.front()), options_.combination)
                  : ""};
  return {scope.add("SyncReplicasApply", std::move(inputs),
                    {{"N", static_cast<int64_t>(rule.variables.size())},
                     {"M", static_cast<int64_t>(rule.after.size())},
                     {"rule", rule.op},
                     {"options", rule.options},
                     {"gradient", rule.gradient},
                     {"indices", rule.indices},
                     {"combine", combine},
                     {"shard", int64_t{-1}},
                     {"shards", options_.shards},
                     {"worker", options_.worker},
                     {"training", options_.training},
                     {"wait", wait}}),
          Output::control};
}

std::vector<Output> SyncReplicas::awaited(const Scope& scope, Output variable) const {
  std::vector<Output> result;
  if (const auto counters = counters_.find(variable.node); counters != counters_.end())
    for (const Output& round : counters->second)
      result.push_back(
          {scope.colocated_with(round).add("SyncReplicasAwait", {round}, {{"training", options_.training}}),
           Output::control});
  return result;
}

Output SyncReplicas::set_rounds(const Scope& scope, Output rounds) const {
  std::vector<Output> set;
  for (const Output& round : rounds_)
    set.push_back(scope.colocated_with(round).add_one("Assign", {round, rounds}));
  return scope.group(set);
}

}  // namespace troupe::nn
