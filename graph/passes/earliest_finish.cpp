#include "graph/passes/earliest_finish.h"

#include <algorithm>
#include <cassert>
#include <functional>
#include <map>
#include <queue>
#include <tuple>

#include "graph/build/frames.h"

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

class StepSimulation {
 public:
  StepSimulation(const Graph& graph, std::span<const DeviceInfo> devices, const PlacementGroups& groups,
                 const NodeCosts& costs)
      : graph_(graph), devices_(devices), groups_(groups), costs_(costs),
        chosen_(groups.members.size(), no_device), finish_(graph.size(), 0), pending_(graph.size(), 0),
        consumers_(graph.size()), free_at_(devices.size(), 0), state_bytes_(devices.size(), 0) {
    const auto order = topological_order(graph);
    assert(order.ok());
    initializes_ = initializers(graph, *order);
    if (auto frames = assign_frames(graph)) frames_ = std::move(*frames);
  }

  std::vector<DeviceId> run() && {
    for (uint32_t group = 0; group < chosen_.size(); ++group)
      if (groups_.devices(group).size() == 1) choose(group, groups_.devices(group)[0]);
    count_inputs();
    while (!ready_.empty()) {
      const NodeId node = std::get<2>(ready_.top());
      ready_.pop();
      place(node);
      for (const NodeId consumer : consumers_[node])
        if (--pending_[consumer] == 0) add_ready(consumer);
    }
    for (uint32_t group = 0; group < chosen_.size(); ++group)
      if (chosen_[group] == no_device) choose(group, groups_.devices(group)[0]);
    return std::move(chosen_);
  }

 private:
  DeviceId device_of(NodeId node) const { return chosen_[groups_.group_of[node]]; }
  bool may_run_on(uint32_t group, DeviceId device) const {
    const auto& candidates = groups_.devices(group);
    return std::ranges::find(candidates, device) != candidates.end();
  }

  void count_inputs() {
    for (const Node& node : graph_.nodes()) {
      const auto count = [&](NodeId source) {
        if (is_back_edge(graph_.node(source), node)) return;
        ++pending_[node.id];
        consumers_[source].push_back(node.id);
      };
      for (const Output& input : node.inputs) count(input.node);
      for (const NodeId control : node.control_inputs) count(control);
    }
    for (NodeId node = 0; node < graph_.size(); ++node)
      if (pending_[node] == 0) add_ready(node);
  }
  void add_ready(NodeId id) {
    double ready = 0;
    for (const Output& input : graph_.node(id).inputs) ready = std::max(ready, finish_[input.node]);
    ready_.emplace(initializes_[id], ready, id);
  }

  void place(NodeId id) {
    const uint32_t group = groups_.group_of[id];
    if (chosen_[group] == no_device) {
      const DeviceId device = costs_.is_free(id) ? device_of_input(id) : best_device(id);
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
    const uint32_t loop = outermost_loop(id);
    if (loop != root_frame)
      if (const auto known = loops_.find(loop); known != loops_.end() && may_run_on(group, known->second))
        return known->second;
    const double state = state_bytes(id);
    const auto merit = [&](DeviceId device) {
      const auto memory = static_cast<double>(devices_[device].memory);
      const bool is_full = state > 0 && memory > 0 && state_bytes_[device] + state > memory;
      return std::pair(is_full, start(id, device) + costs_.seconds(id, device));
    };
    const auto& candidates = groups_.devices(group);
    const DeviceId best = *std::ranges::min_element(candidates, {}, merit);
    if (loop != root_frame) loops_.emplace(loop, best);
    return best;
  }
  uint32_t outermost_loop(NodeId id) const {
    if (frames_.of_node.empty()) return root_frame;
    FrameId frame = frames_.of_node[id];
    while (frame != root_frame && frames_.frames[frame].parent != root_frame)
      frame = frames_.frames[frame].parent;
    return frame;
  }

  /// Returns the bytes of the variables that would be placed with this node.
  double state_bytes(NodeId id) const {
    double bytes = 0;
    for (const NodeId member : groups_.members[groups_.group_of[id]]) bytes += bytes_of_state(member);
    for (const Output& input : graph_.node(id).inputs) {
      const bool other = groups_.group_of[input.node] != groups_.group_of[id];
      if (other && device_of(input.node) == no_device &&
          !is_back_edge(graph_.node(input.node), graph_.node(id)))
        bytes += state_bytes(input.node);
    }
    return bytes;
  }
  double bytes_of_state(NodeId id) const {
    const Node& node = graph_.node(id);
    if (node.type() == "VarHandleOp")
      return NodeCosts::bytes(node.attrs.get<DType>("dtype"), node.attrs.get<PartialShape>("shape"));
    const bool declares = node.inputs.empty() && node.output_types.size() == 1 && node.output_types[0].is_ref;
    return declares ? costs_.bytes({id, 0}) : 0;
  }

  /// Returns when the node could start there.
  double start(NodeId id, DeviceId device) const {
    double start = free_at_[device];
    for (const Output& input : graph_.node(id).inputs)
      if (!is_back_edge(graph_.node(input.node), graph_.node(id)))
        start = std::max(start, arrival(input, device));
    for (const NodeId control : graph_.node(id).control_inputs)
      if (device_of(control) != no_device)
        start = std::max(start, finish_[control] + costs_.transfer_seconds(0, device_of(control), device));
    return start;
  }
  /// Returns when the tensor could be there. One whose device a consumer decides is there at once, if it may be.
  double arrival(Output input, DeviceId device) const {
    const uint32_t group = groups_.group_of[input.node];
    DeviceId from = chosen_[group];
    if (from == no_device) from = may_run_on(group, device) ? device : groups_.devices(group)[0];
    if (const auto sent = arrivals_.find({input.node, input.index, device}); sent != arrivals_.end())
      return sent->second;
    return finish_[input.node] + costs_.transfer_seconds(costs_.bytes(input), from, device);
  }

  void choose(uint32_t group, DeviceId device) {
    chosen_[group] = device;
    for (const NodeId member : groups_.members[group]) state_bytes_[device] += bytes_of_state(member);
  }

  void schedule(NodeId id, DeviceId device) {
    const Node& node = graph_.node(id);
    for (const Output& input : node.inputs) decide(input.node, device);
    const double begin = start(id, device);
    for (const Output& input : node.inputs)
      if (device_of(input.node) != device)
        arrivals_.try_emplace({input.node, input.index, device}, arrival(input, device));
    finish_[id] = begin + costs_.seconds(id, device);
    if (!costs_.is_free(id)) free_at_[device] = finish_[id];
  }
  /// Places a node, and the inputs that it passes on, whose device its consumers decide.
  void decide(NodeId id, DeviceId device) {
    const uint32_t group = groups_.group_of[id];
    if (chosen_[group] != no_device) return;
    choose(group, may_run_on(group, device) ? device : groups_.devices(group)[0]);
    for (const Output& input : graph_.node(id).inputs) decide(input.node, chosen_[group]);
  }

  const Graph& graph_;
  std::span<const DeviceInfo> devices_;
  const PlacementGroups& groups_;
  const NodeCosts& costs_;
  std::vector<bool> initializes_;
  FrameInfo frames_;               ///< empty if the graph has none, because the step will be refused
  std::vector<DeviceId> chosen_;   ///< by group
  std::vector<double> finish_;     ///< by node
  std::vector<uint32_t> pending_;  ///< by node: the number of inputs that have not been simulated
  std::vector<std::vector<NodeId>> consumers_;
  std::vector<double> free_at_, state_bytes_;  ///< by device
  std::map<std::tuple<NodeId, uint32_t, DeviceId>, double> arrivals_;
  std::map<FrameId, DeviceId> loops_;  ///< the device of each outermost loop
  using Ready = std::tuple<bool, double, NodeId>;
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready_;
};

}  // namespace

std::vector<DeviceId> earliest_finish(const Graph& graph, std::span<const DeviceInfo> devices,
                                      const PlacementGroups& groups, const NodeCosts& costs) {
  return StepSimulation(graph, devices, groups, costs).run();
}

}  // namespace troupe
