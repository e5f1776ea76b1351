#include "graph/passes/liveness.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

namespace troupe {
namespace {

using Condition = Liveness::Condition;
constexpr Condition always = Liveness::always;
constexpr int most_passes = 8;  ///< until no loop variable is trusted

/// What a condition adds to its parent.
enum class Kind : uint8_t {
  Other,     ///< something else than all other conditions
  Branch,    ///< a predicate has this side
  Frame,     ///< a loop was entered
  Iteration  ///< the loop has this iteration
};
/// Parent, kind, the predicate and its side, the name of the frame. Conditions of equal keys are the same.
using Key = std::tuple<Condition, Kind, uint64_t, std::string>;

class Conditions {
 public:
  Conditions(std::span<const Node> nodes, const std::vector<uint32_t>& first_output, size_t outputs)
      : of_outputs(outputs, always), nodes_(nodes), first_output_(first_output),
        of_controls_(nodes.size(), always), distrusted_(nodes.size()) {}

  /// Assigns the conditions of all outputs. A loop variable is trusted to last as long as its loop; if it does not, all conditions
  /// are assigned again.
  void assign(std::span<const NodeId> order) {
    int passes = 0;
    do {
      parents.assign(1, always);
      keys_.assign(1, {always, Kind::Other, 0, {}});
      ids_.clear();
      for (const NodeId id : order) assign(nodes_[id]);
    } while (distrust(++passes > most_passes));
  }

  std::vector<Condition> of_outputs, parents;

 private:
  Condition& of(Output output) { return of_outputs[first_output_[output.node] + output.index]; }

  void assign(const Node& node) {
    const FlowKind kind = flow_kind(node);
    const Condition inputs = together(node, kind);
    for (uint32_t i = 0; i < node.output_types.size(); ++i)
      of({node.id, i}) = of_output(node, kind, i, inputs);
    const bool as_output = kind != FlowKind::Switch && !node.output_types.empty();
    of_controls_[node.id] = as_output ? of({node.id, 0}) : inputs;
  }

  Condition of_output(const Node& node, FlowKind kind, uint32_t output, Condition inputs) {
    switch (kind) {
      case FlowKind::Switch: return added({inputs, Kind::Branch, side(node.inputs[1], output), {}});
      case FlowKind::Enter: return added({inputs, Kind::Frame, 0, node.attrs.get<std::string>("frame_name")});
      case FlowKind::Exit: return after_loop(inputs);
      default: return inputs;
    }
  }
  static uint64_t side(Output predicate, uint32_t output) {
    return (uint64_t{predicate.node} << 32 | predicate.index) << 1 | output;
  }
  bool is_of_loop(uint64_t side) const {
    return flow_kind(nodes_[static_cast<NodeId>(side >> 33)]) == FlowKind::LoopCond;
  }

  Condition together(const Node& node, FlowKind kind) {
    if (kind == FlowKind::ControlTrigger) return other(always);  // it is alive even if its inputs are dead
    return kind == FlowKind::Merge ? merged(node) : of_inputs(node);
  }
  Condition of_inputs(const Node& node) {
    Condition all = always;
    for (const Output& input : node.inputs) all = both(all, of(input));
    for (const NodeId control : node.control_inputs) all = both(all, of_controls_[control]);
    return all;
  }
  Condition merged(const Node& merge) {
    if (merge.inputs.size() != 2 || !merge.control_inputs.empty()) return other(always);
    const Condition first = of(merge.inputs[0]);
    if (is_back_edge(merge))
      return distrusted_[merge.id] ? other(always) : added({first, Kind::Iteration, 0, {}});
    const auto [a, kind_a, side_a, frame_a] = keys_[first];
    const auto [b, kind_b, side_b, frame_b] = keys_[of(merge.inputs[1])];
    const bool opposite =
        kind_a == Kind::Branch && kind_b == Kind::Branch && a == b && (side_a ^ side_b) == 1;
    return opposite ? a : other(always);
  }
  bool is_back_edge(const Node& merge) const {
    return flow_kind(nodes_[merge.inputs[1].node]) == FlowKind::NextIteration;
  }

  /// Returns the condition of an Exit: that of what enters the loop, if its input is alive whenever the loop ends.
  Condition after_loop(Condition last) {
    const auto& [iteration, kind, side, none] = keys_[last];
    const bool ends = kind == Kind::Branch && is_of_loop(side) && (side & 1) == 0;
    if (!ends || std::get<Kind>(keys_[iteration]) != Kind::Iteration) return other(always);
    return parents[parents[iteration]];
  }

  Condition added(Key key) {
    const auto [at, is_new] = ids_.try_emplace(std::move(key), static_cast<Condition>(parents.size()));
    if (is_new) {
      parents.push_back(std::get<0>(at->first));
      keys_.push_back(at->first);
    }
    return at->second;
  }
  Condition other(Condition parent) { return added({parent, Kind::Other, parents.size(), {}}); }

  Condition both(Condition a, Condition b) {
    if (holds_with(a, b)) return a;
    return holds_with(b, a) ? b : other(a);
  }
  bool holds_with(Condition a, Condition b) const {
    while (a > b) a = parents[a];
    return a == b;
  }

  /// Distrusts the variables that may not be there in the next iteration of their loop, or all. Returns whether there are any.
  bool distrust(bool all) {
    std::map<Condition, Condition> next_of;  // for each loop, the condition of its next iteration
    bool found = false;
    for (const Node& node : nodes_) {
      if (flow_kind(node) != FlowKind::Merge || node.inputs.size() != 2 || !is_back_edge(node)) continue;
      if (distrusted_[node.id]) continue;
      const Condition now = of({node.id, 0}), next = of(node.inputs[1]);
      const auto& [parent, kind, side, none] = keys_[next];
      const bool goes_on = parent == now && kind == Kind::Branch && is_of_loop(side) && (side & 1) == 1;
      if (!all && goes_on && next_of.try_emplace(now, next).first->second == next) continue;
      found = distrusted_[node.id] = true;
    }
    return found;
  }

  std::span<const Node> nodes_;
  const std::vector<uint32_t>& first_output_;
  std::vector<Condition> of_controls_;  ///< for each node, under which it sends along its control edges
  std::vector<bool> distrusted_;
  std::vector<Key> keys_;  ///< of each condition
  std::map<Key, Condition> ids_;
};

}  // namespace

Liveness::Liveness(std::span<const Node> nodes, std::span<const NodeId> order) {
  uint32_t outputs = 0;
  for (const Node& node : nodes) {
    first_output_.push_back(outputs);
    outputs += static_cast<uint32_t>(node.output_types.size());
  }
  Conditions conditions(nodes, first_output_, outputs);
  conditions.assign(order);
  conditions_ = std::move(conditions.of_outputs);
  parents_ = std::move(conditions.parents);
}

bool Liveness::implies(Output a, Output b) const {
  if (std::max(a.node, b.node) >= first_output_.size()) return false;
  const Condition wanted = conditions_[first_output_[b.node] + b.index];
  Condition condition = conditions_[first_output_[a.node] + a.index];
  while (condition > wanted) condition = parents_[condition];
  return condition == wanted;
}

}  // namespace troupe
