#include "graph/build/loops.h"

#include <algorithm>

namespace troupe {
namespace {

/// Appends the guards that are not there yet.
void unite(Guards& guards, const Guards& more) {
  for (const Guard& guard : more)
    if (std::ranges::find(guards, guard) == guards.end()) guards.push_back(guard);
}

void intersect(Guards& guards, const Guards& other) {
  std::erase_if(guards, [&](const Guard& guard) { return std::ranges::find(other, guard) == other.end(); });
}

}  // namespace

Loops::Loops(const Graph& graph, const std::vector<Output>& roots) : graph_(graph), known_(graph.size()) {
  info_ = value_or_throw(assign_frames(graph, roots));
  for (FrameId frame = 0; frame < info_.frames.size(); ++frame)
    loops_.push_back({.frame = frame, .parent = info_.frames[frame].parent});
  if (loops_.size() == 1) return;
  find_variables();
  find_ends();
  check_completeness();
}

/// Finds the Merge of each variable, and from it the Enter and the NextIteration.
void Loops::find_variables() {
  for (const Node& node : graph_.nodes()) {
    if (flow_kind(node) != FlowKind::Merge || node.inputs.size() != 2) continue;
    for (const size_t back : {0U, 1U}) {
      const Node& next = graph_.node(node.inputs[back].node);
      const Node& enter = graph_.node(node.inputs[1 - back].node);
      if (flow_kind(next) != FlowKind::NextIteration || flow_kind(enter) != FlowKind::Enter) continue;
      const FrameId frame = info_.of_node[node.id];
      auto& variables = loops_[frame].variables;
      for (const NodeId id : {node.id, next.id}) variables_[id] = {frame, variables.size()};
      variables.push_back({.enter = enter.id, .merge = node.id, .next = next.id});
    }
  }
}

/// Finds the Switch and the Exits of each variable, the LoopCond of each loop and its invariants.
void Loops::find_ends() {
  for (const Node& node : graph_.nodes()) {
    const FrameId frame = info_.of_node[node.id];
    switch (flow_kind(node)) {
      case FlowKind::LoopCond:
        conditions_[node.id] = frame;
        loops_[frame].condition = node.id;
        break;
      case FlowKind::Switch:
        if (const auto merge = variables_.find(node.inputs[0].node);
            merge != variables_.end() && flow_kind(graph_.node(node.inputs[1].node)) == FlowKind::LoopCond) {
          loops_[frame].variables[merge->second.second].steer = node.id;
          variables_[node.id] = merge->second;
        }
        break;
      case FlowKind::Enter:
        if (node.attrs.get<bool>("is_constant"))
          loops_[info_.of_outputs[node.id]].invariants.push_back(node.id);
        break;
      default: break;
    }
  }
  for (const Node& node : graph_.nodes())
    if (flow_kind(node) == FlowKind::Exit)
      if (const auto steer = variables_.find(node.inputs[0].node); steer != variables_.end())
        loops_[steer->second.first].variables[steer->second.second].exits.push_back(node.id);
}

void Loops::check_completeness() {
  for (Loop& loop : loops_) {
    const auto& enters = info_.frames[loop.frame].enters;
    loop.is_complete = loop.frame != root_frame && conditions_.contains(loop.condition) &&
                       loop.variables.size() + loop.invariants.size() == enters.size() &&
                       std::ranges::all_of(loop.variables, [&](const LoopVariable& variable) {
                         return variables_.contains(variable.steer);
                       });
  }
  std::erase_if(variables_, [&](const auto& node) { return !loops_[node.second.first].is_complete; });
}

FrameId Loops::frame_of(NodeId node) const {
  if (node < known_) return info_.of_outputs[node];
  const auto recorded = recorded_.find(node);
  return recorded == recorded_.end() ? root_frame : recorded->second.first;
}

Attributes Loops::enter_attributes(FrameId frame) const {
  const LoopFrame& of = info_.frames[frame];
  return {{"frame_name", of.name}, {"parallel_iterations", of.parallel_iterations}};
}

const Loop* Loops::loop_left_by(NodeId node) const {
  if (node >= known_ || flow_kind(graph_.node(node)) != FlowKind::Exit) return nullptr;
  const Loop& loop = loops_[info_.of_node[node]];
  return loop.is_complete ? &loop : nullptr;
}

const Loop* Loops::loop_of_condition(NodeId node) const {
  const auto condition = conditions_.find(node);
  if (condition == conditions_.end() || !loops_[condition->second].is_complete) return nullptr;
  return &loops_[condition->second];
}

void Loops::record(NodeId node, FrameId frame, Guards guards) {
  recorded_[node] = {frame, std::move(guards)};
}

// ---- branches

Guards Loops::guards(Output output) {
  if (const auto recorded = recorded_.find(output.node); recorded != recorded_.end())
    return recorded->second.second;
  if (guards_.empty()) compute_guards();
  return output.node < known_ ? guards_at(output) : Guards();
}

void Loops::compute_guards() {
  guards_.resize(known_);
  for (const NodeId id : value_or_throw(topological_order(graph_.nodes().first(known_))))
    guards_[id] = guards_of(graph_.node(id));
}

Guards Loops::guards_at(Output output) const {
  Guards guards = guards_[output.node];
  const Node& node = graph_.node(output.node);
  if (flow_kind(node) == FlowKind::Switch && !steers(node.id))
    unite(guards, {{node.inputs[1], output.index}});
  return guards;
}

Guards Loops::guards_around(FrameId frame) {
  if (guards_.empty()) compute_guards();
  return guards_of_enters(frame);
}

Guards Loops::guards_of_enters(FrameId frame) const {
  Guards guards;
  for (const NodeId enter : info_.frames[frame].enters)
    unite(guards, guards_at(graph_.node(enter).inputs[0]));
  return guards;
}

/// Inside a loop the branches around the loop do not count.
Guards Loops::guards_of(const Node& node) const {
  const FlowKind kind = flow_kind(node);
  if (kind == FlowKind::Enter || steers(node.id)) return {};
  Guards guards;
  if (kind == FlowKind::Exit) return guards_of_enters(info_.of_node[node.id]);
  if (kind == FlowKind::Merge) {
    guards = guards_at(node.inputs[0]);
    for (const Output& input : node.inputs) intersect(guards, guards_at(input));
  } else {
    for (const Output& input : node.inputs) unite(guards, guards_at(input));
  }
  for (const NodeId control : node.control_inputs) unite(guards, guards_[control]);
  return guards;
}

}  // namespace troupe
