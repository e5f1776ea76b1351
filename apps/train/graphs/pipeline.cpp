#include "apps/train/graphs/pipeline.h"

#include <algorithm>

#include "graph/build/split.h"

namespace troupe::train {
namespace {

/// Returns which nodes these outputs depend on.
std::vector<bool> needed_for(const Graph& graph, Output result) {
  std::vector<bool> needed(graph.size(), false);
  std::vector<NodeId> waiting{result.node};
  while (!waiting.empty()) {
    const NodeId node = waiting.back();
    waiting.pop_back();
    if (needed[node]) continue;
    needed[node] = true;
    for (const Output& input : graph.node(node).inputs) waiting.push_back(input.node);
  }
  return needed;
}

Output target(Output output) { return {output.node, Output::control}; }

}  // namespace

PlacedStages::PlacedStages(const StageDevices& devices) : devices_(devices) {
  for (auto& of_stage : devices_)
    for (std::string& device : of_stage) device = value_or_throw(DeviceName::parse(device)).text();
}

nn::Network PlacedStages::at(const nn::Network& network, int64_t stage) {
  return network.on_device(device(static_cast<size_t>(stage)));
}

size_t PlacedStages::stage_at(const std::string& device) const {
  for (size_t stage = 0; stage < stages(); ++stage)
    if (std::ranges::count(devices_[stage], device) != 0) return stage;
  return 0;
}

Output PlacedStages::join(const Scope& scope, const std::vector<Output>& parts, const std::string& device,
                          int64_t dimension) {
  const auto& devices = devices_at(device);
  for (size_t i = 0; i < parts.size(); ++i) part_users_[parts[i].node] = devices[i];
  return split_parts(scope.with_device(device), parts, devices, dimension);
}

std::string PlacedStages::device_of_part(Output variable) const {
  const auto known = part_users_.find(variable.node);
  return known == part_users_.end() ? std::string() : known->second;
}

void Pipeline::begin(const Scope& scope) {
  scope_ = scope;
  entrances_.clear();
  gates_.assign(stages(), {});
  for (size_t stage = 0; stage < stages(); ++stage) {
    std::vector<Output> before = forward_.empty() ? std::vector<Output>() : forward_[stage];
    const size_t alive = stages() - stage;
    if (backward_.size() >= alive)
      if (const auto& ended = backward_[backward_.size() - alive][stage]) before.push_back(*ended);
    if (before.empty()) continue;
    const Scope there = scope.with_prefix("stage_" + std::to_string(stage)).with_device(device(stage));
    gates_[stage] = {there.with_name("begin").group(before)};
  }
}

Output Pipeline::entering(Output value, int64_t from, int64_t to) {
  const auto known = std::ranges::find_if(
      entrances_, [&](const Entrance& one) { return one.value == value && one.to == to; });
  if (known != entrances_.end()) return known->entered;
  const auto stage = static_cast<size_t>(to);
  const Scope there = scope_->with_prefix("stage_" + std::to_string(to)).with_device(device(stage));
  const Output entered = there.with_control(gates_.at(stage)).with_name("enter").add_one("Identity", {value});
  entrances_.push_back({value, entered, from, to});
  return entered;
}

void Pipeline::end_forward(Output loss) {
  const std::vector<bool> needed = needed_for(scope_->graph(), loss);
  forward_.assign(stages(), {});
  forward_[stage_of(loss)].push_back(target(loss));
  for (const Entrance& one : entrances_)
    if (one.from != of_data && needed[one.entered.node])
      forward_[static_cast<size_t>(one.from)].push_back(target(one.value));
}

std::vector<Output> Pipeline::entered() const {
  std::vector<Output> result;
  for (const Entrance& one : entrances_)
    if (one.from != of_data && is_floating(scope_->dtype(one.entered))) result.push_back(one.entered);
  return result;
}

void Pipeline::end_backward(const std::vector<std::optional<Output>>& gradients,
                            const std::vector<Output>& results) {
  std::vector<std::vector<Output>> done(stages());
  for (const auto& gradient : gradients)
    if (gradient) done[stage_of(*gradient)].push_back(target(*gradient));
  for (const Output& result : results) done[stage_of(result)].push_back(target(result));
  auto& ends = backward_.emplace_back();
  for (size_t stage = 0; stage < stages(); ++stage) {
    const Scope there = scope_->with_prefix("stage_" + std::to_string(stage)).with_device(device(stage));
    if (done[stage].empty())
      ends.emplace_back();
    else
      ends.emplace_back(there.with_name("end").group(done[stage]));
  }
}

}  // namespace troupe::train
