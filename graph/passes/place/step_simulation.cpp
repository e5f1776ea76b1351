#include "graph/passes/place/step_simulation.h"

#include <algorithm>
#include <cassert>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>
#include <unordered_map>

namespace troupe {
namespace {

bool is_assignment(const Node& node) { return node.type() == "Assign" || node.type() == "AssignVariableOp"; }

/// Returns for each node whether it only serves to give variables their first values.
std::vector<bool> initializers(const Graph& graph, std::span<const NodeId> order) {
  std::vector<bool> ends(graph.size(), false), serves(graph.size(), false);
  for (const NodeId id : order) {
    const Node& node = graph.node(id);
    const bool groups =
        node.inputs.empty() && !node.control_inputs.empty() &&
        std::ranges::all_of(node.control_inputs, [&](NodeId control) { return ends[control]; });
    ends[id] = is_assignment(node) || (node.type() == "NoOp" && groups);
  }
  std::vector<uint32_t> others(graph.size(), 0), consumers(graph.size(), 0);
  for (auto id = order.rbegin(); id != order.rend(); ++id) {
    const Node& node = graph.node(*id);
    const bool is_variable = node.output_types.size() == 1 &&
                             (node.output_types[0].is_ref || node.output_types[0].dtype == DType::Resource);
    serves[*id] = ends[*id] || (!is_variable && consumers[*id] > 0 && others[*id] == 0);
    const auto count = [&](NodeId source) {
      ++consumers[source];
      if (!serves[*id]) ++others[source];
    };
    for (const Output& input : node.inputs) count(input.node);
    for (const NodeId control : node.control_inputs) count(control);
  }
  return serves;
}

double bytes_of_state(const Node& node, const NodeCosts& costs) {
  if (node.type() == "VarHandleOp")
    return NodeCosts::bytes(node.attrs.get<DType>("dtype"), node.attrs.get<PartialShape>("shape"));
  const bool declares = node.inputs.empty() && node.output_types.size() == 1 && node.output_types[0].is_ref;
  return declares ? costs.bytes({node.id, 0}) : 0;
}

}  // namespace

// What is the same in every simulation.

StepModel::StepModel(const Graph& graph, std::span<const DeviceInfo> devices, const PlacementGroups& groups,
                     const NodeCosts& costs)
    : graph_(graph), devices_(devices), groups_(groups), loops_(graph.size(), root_frame),
      pending_(graph.size(), 0), consumers_(graph.size()) {
  const auto order = topological_order(graph);
  assert(order.ok());
  initializes_ = initializers(graph, *order);
  find_loops();
  count_inputs();
  measure_nodes(costs);
  measure_connections(costs);
}

/// If the graph has no frames, the step will be refused.
void StepModel::find_loops() {
  const auto frames = assign_frames(graph_);
  if (!frames) return;
  for (NodeId node = 0; node < graph_.size(); ++node) {
    FrameId frame = frames->of_node[node];
    while (frame != root_frame && frames->frames[frame].parent != root_frame)
      frame = frames->frames[frame].parent;
    loops_[node] = frame;
  }
}

void StepModel::count_inputs() {
  for (const Node& node : graph_.nodes()) {
    const auto count = [&](NodeId source) {
      if (is_back_edge(graph_.node(source), node)) return;
      ++pending_[node.id];
      consumers_[source].push_back(node.id);
    };
    for (const Output& input : node.inputs) count(input.node);
    for (const NodeId control : node.control_inputs) count(control);
  }
}

void StepModel::measure_nodes(const NodeCosts& costs) {
  std::vector<DeviceId> one_of_type;
  for (DeviceId device = 0; device < devices_.size(); ++device) {
    const auto same = std::ranges::find_if(
        one_of_type, [&](DeviceId other) { return devices_[other].name.type == devices_[device].name.type; });
    type_of_.push_back(static_cast<size_t>(same - one_of_type.begin()));
    if (same == one_of_type.end()) one_of_type.push_back(device);
  }
  types_ = one_of_type.size();
  for (const Node& node : graph_.nodes()) {
    is_free_.push_back(costs.is_free(node.id));
    state_bytes_.push_back(bytes_of_state(node, costs));
    for (const DeviceId device : one_of_type) seconds_.push_back(costs.seconds(node.id, device));
    first_output_.push_back(bytes_.size());
    for (uint32_t i = 0; i < node.output_types.size(); ++i) bytes_.push_back(costs.bytes({node.id, i}));
  }
}

void StepModel::measure_connections(const NodeCosts& costs) {
  for (DeviceId from = 0; from < devices_.size(); ++from)
    for (DeviceId to = 0; to < devices_.size(); ++to) {
      latency_.push_back(costs.transfer_seconds(0, from, to));
      seconds_per_byte_.push_back(costs.transfer_seconds(1, from, to) - latency_.back());
    }
}

// One simulation.

class StepModel::Run {
 public:
  Run(const StepModel& model, std::span<const DeviceId> fixed)
      : model_(model), graph_(model.graph_), groups_(model.groups_),
        chosen_(groups_.members.size(), no_device), finish_(graph_.size(), 0), pending_(model.pending_),
        free_at_(model.devices_.size(), 0), state_bytes_(model.devices_.size(), 0),
        arrivals_(model.bytes_.size() * model.devices_.size(), not_sent) {
    for (uint32_t group = 0; group < chosen_.size(); ++group)
      if (groups_.devices(group).size() == 1)
        choose(group, groups_.devices(group)[0]);
      else if (!fixed.empty() && fixed[group] != no_device)
        choose(group, fixed[group]);
  }

  SimulatedStep result() && {
    for (NodeId node = 0; node < graph_.size(); ++node)
      if (pending_[node] == 0) add_ready(node);
    while (!ready_.empty()) {
      const NodeId node = std::get<2>(ready_.top());
      ready_.pop();
      place(node);
      for (const NodeId consumer : model_.consumers_[node])
        if (--pending_[consumer] == 0) add_ready(consumer);
    }
    for (uint32_t group = 0; group < chosen_.size(); ++group)
      if (chosen_[group] == no_device) choose(group, groups_.devices(group)[0]);
    SimulatedStep step;
    step.devices = std::move(chosen_);
    for (DeviceId device = 0; device < state_bytes_.size(); ++device)
      if (memory(device) > 0) step.excess_bytes += std::max(0.0, state_bytes_[device] - memory(device));
    for (NodeId node = 0; node < graph_.size(); ++node)
      if (!model_.initializes_[node]) step.seconds = std::max(step.seconds, finish_[node]);
    return step;
  }

 private:
  static constexpr double not_sent = std::numeric_limits<double>::infinity();

  DeviceId device_of(NodeId node) const { return chosen_[groups_.group_of[node]]; }
  bool may_run_on(uint32_t group, DeviceId device) const {
    const auto& candidates = groups_.devices(group);
    return std::ranges::find(candidates, device) != candidates.end();
  }

  void add_ready(NodeId id) {
    double ready = 0;
    for (const Output& input : graph_.node(id).inputs) ready = std::max(ready, finish_[input.node]);
    ready_.emplace(model_.initializes_[id], ready, id);
  }

  void place(NodeId id) {
    const uint32_t group = groups_.group_of[id];
    if (chosen_[group] == no_device) {
      const DeviceId device = model_.is_free_[id] ? device_of_input(id) : best_device(id);
      if (device == no_device) return;  // a consumer decides
      choose(group, device);
    }
    schedule(id, chosen_[group]);
  }

  /// Returns the device of the first input that has one, if this node may run there.
  DeviceId device_of_input(NodeId id) const {
    const Node& node = graph_.node(id);
    for (const Output& input : node.inputs)
      if (const DeviceId device = device_of(input.node); device != no_device)
        return may_run_on(groups_.group_of[id], device) ? device : groups_.devices(groups_.group_of[id])[0];
    return no_device;
  }

  DeviceId best_device(NodeId id) {
    const uint32_t group = groups_.group_of[id];
    const FrameId loop = model_.loops_[id];
    if (loop != root_frame)
      if (const auto known = loops_.find(loop); known != loops_.end() && may_run_on(group, known->second))
        return known->second;
    const double state = state_bytes(id);
    const auto merit = [&](DeviceId device) {
      const bool is_full = state > 0 && memory(device) > 0 && state_bytes_[device] + state > memory(device);
      return std::pair(is_full, start(id, device) + model_.seconds(id, device));
    };
    const auto& candidates = groups_.devices(group);
    const DeviceId best = *std::ranges::min_element(candidates, {}, merit);
    if (loop != root_frame) loops_.emplace(loop, best);
    return best;
  }

  /// Returns the bytes of the variables that would be placed with this node.
  double state_bytes(NodeId id) const {
    double bytes = 0;
    for (const NodeId member : groups_.members[groups_.group_of[id]]) bytes += model_.state_bytes_[member];
    for (const Output& input : graph_.node(id).inputs) {
      const bool other = groups_.group_of[input.node] != groups_.group_of[id];
      if (other && device_of(input.node) == no_device &&
          !is_back_edge(graph_.node(input.node), graph_.node(id)))
        bytes += state_bytes(input.node);
    }
    return bytes;
  }
  double memory(DeviceId device) const { return static_cast<double>(model_.devices_[device].memory); }

  /// Returns when the node could start there.
  double start(NodeId id, DeviceId device) const {
    double start = free_at_[device];
    for (const Output& input : graph_.node(id).inputs)
      if (!is_back_edge(graph_.node(input.node), graph_.node(id)))
        start = std::max(start, arrival(input, device));
    for (const NodeId control : graph_.node(id).control_inputs)
      if (device_of(control) != no_device)
        start = std::max(start, finish_[control] + model_.transfer_seconds(0, device_of(control), device));
    return start;
  }
  /// Returns when the tensor could be there. One whose device a consumer decides is there at once, if it may be.
  double arrival(Output input, DeviceId device) const {
    const uint32_t group = groups_.group_of[input.node];
    DeviceId from = chosen_[group];
    if (from == no_device) from = may_run_on(group, device) ? device : groups_.devices(group)[0];
    if (const double sent = arrivals_[place_of(input, device)]; sent != not_sent) return sent;
    return finish_[input.node] + model_.transfer_seconds(model_.bytes(input), from, device);
  }

  size_t place_of(Output output, DeviceId device) const {
    return model_.index_of(output) * free_at_.size() + device;
  }

  void choose(uint32_t group, DeviceId device) {
    chosen_[group] = device;
    for (const NodeId member : groups_.members[group]) state_bytes_[device] += model_.state_bytes_[member];
  }

  void schedule(NodeId id, DeviceId device) {
    const Node& node = graph_.node(id);
    for (const Output& input : node.inputs) decide(input.node, device);
    const double begin = start(id, device);
    for (const Output& input : node.inputs)
      if (device_of(input.node) != device) arrivals_[place_of(input, device)] = arrival(input, device);
    finish_[id] = begin + model_.seconds(id, device);
    if (!model_.is_free_[id]) free_at_[device] = finish_[id];
  }
  /// Places a node, and the inputs that it passes on, whose device its consumers decide.
  void decide(NodeId id, DeviceId device) {
    const uint32_t group = groups_.group_of[id];
    if (chosen_[group] != no_device) return;
    choose(group, may_run_on(group, device) ? device : groups_.devices(group)[0]);
    for (const Output& input : graph_.node(id).inputs) decide(input.node, chosen_[group]);
  }

  const StepModel& model_;
  const Graph& graph_;
  const PlacementGroups& groups_;
  std::vector<DeviceId> chosen_;               ///< by group
  std::vector<double> finish_;                 ///< by node
  std::vector<uint32_t> pending_;              ///< by node: the number of inputs that have not been simulated
  std::vector<double> free_at_, state_bytes_;  ///< by device
  std::vector<double> arrivals_;               ///< by output and device: when it is there, if it was sent
  std::unordered_map<FrameId, DeviceId> loops_;  ///< the device of each outermost loop
  using Ready = std::tuple<bool, double, NodeId>;
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready_;
};

SimulatedStep StepModel::simulate(std::span<const DeviceId> fixed) const {
  return Run(*this, fixed).result();
}

std::vector<DeviceId> earliest_finish(const Graph& graph, std::span<const DeviceInfo> devices,
                                      const PlacementGroups& groups, const NodeCosts& costs) {
  return StepModel(graph, devices, groups, costs).simulate().devices;
}

}  // namespace troupe
