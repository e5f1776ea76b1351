#include "graph/build/frames.h"

#include <map>
#include <utility>

#include "graph/build/needed_part.h"

namespace troupe {
namespace {

class FrameAssignment {
 public:
  /// Checks the nodes that are marked as checked; all of them if no marks are given.
  explicit FrameAssignment(std::span<const Node> nodes, std::vector<bool> is_checked = {})
      : nodes_(nodes), is_checked_(std::move(is_checked)) {
    if (is_checked_.empty()) is_checked_.assign(nodes.size(), true);
    info_.frames.emplace_back();
    info_.of_node.assign(nodes.size(), root_frame);
    info_.of_outputs.assign(nodes.size(), root_frame);
  }

  Result<FrameInfo> run() && {
    TROUPE_ASSIGN(const std::vector<NodeId> order, topological_order(nodes_));
    for (const NodeId id : order) TROUPE_RETURN_IF_FAILED(place(nodes_[id]));
    // The sources of back edges have their frames only now.
    for (const Node& node : nodes_)
      if (flow_kind(node) == FlowKind::Merge) TROUPE_RETURN_IF_FAILED(check_back_edges(node));
    for (const Node& node : nodes_)
      if (flow_kind(node) == FlowKind::Enter) add_enter(node);
    return std::move(info_);
  }

 private:
  /// Decides in which frames the node and its consumers run. The frames of all its sources are known, except those of back edges.
  Status place(const Node& node) {
    const FlowKind kind = flow_kind(node);
    const auto inputs = [&](auto&& visit) {
      for (const Output& input : node.inputs)
        if (kind != FlowKind::Merge || flow_kind(nodes_[input.node]) != FlowKind::NextIteration)
          visit(input.node);
      for (const NodeId control : node.control_inputs) visit(control);
    };
    const NodeId none = node.id;
    NodeId first = none, other = none;
    inputs([&](NodeId input) {
      if (first == none) first = input;
      if (info_.of_outputs[input] != info_.of_outputs[first]) other = input;
    });
    if (other != none && is_checked_[node.id]) return crossed(node, first, other);
    const FrameId frame = first == none ? root_frame : info_.of_outputs[first];
    info_.of_node[node.id] = info_.of_outputs[node.id] = frame;
    if (kind == FlowKind::Enter) return open(node, frame);
    if (kind != FlowKind::Exit && kind != FlowKind::NextIteration) return {};
    if (frame == root_frame && is_checked_[node.id])
      return invalid_argument("the node is outside every loop").at_node(node.type(), node.name);
    if (kind == FlowKind::Exit) info_.of_outputs[node.id] = info_.frames[frame].parent;
    return {};
  }

  Status open(const Node& enter, FrameId parent) {
    const auto& name = enter.attrs.get<std::string>("frame_name");
    if (name.empty())
      return invalid_argument("attribute frame_name is empty").at_node(enter.type(), enter.name);
    const auto [at, is_new] = ids_.try_emplace({parent, name}, static_cast<FrameId>(info_.frames.size()));
    if (is_new) info_.frames.push_back({name, parent, info_.frames[parent].depth + 1, 0, {}});
    info_.of_outputs[enter.id] = at->second;
    return {};
  }

  void add_enter(const Node& enter) {
    LoopFrame& frame = info_.frames[info_.of_outputs[enter.id]];
    if (frame.enters.empty()) frame.parallel_iterations = enter.attrs.get<int64_t>("parallel_iterations");
    frame.enters.push_back(enter.id);
  }

  Status check_back_edges(const Node& merge) const {
    if (!is_checked_[merge.id]) return {};
    for (const Output& input : merge.inputs)
      if (info_.of_outputs[input.node] != info_.of_node[merge.id])
        return crossed(merge, input.node, merge.id);
    return {};
  }

  Status crossed(const Node& node, NodeId a, NodeId b) const {
    const auto side = [&](NodeId input) {
      return nodes_[input].name + " (" + describe(info_, info_.of_outputs[input]) + ")";
    };
    return invalid_argument("the node has inputs from different frames: " + side(a) + " and " + side(b))
        .at_node(node.type(), node.name);
  }

  std::span<const Node> nodes_;
  std::vector<bool> is_checked_;
  FrameInfo info_;
  std::map<std::pair<FrameId, std::string>, FrameId> ids_;
};

}  // namespace

FlowKind flow_kind(const OpDef& op) {
  if (op.effect != Effect::Step) return FlowKind::None;
  std::string_view name = op.name;
  if (name.starts_with("Ref")) name.remove_prefix(3);
  if (name == "Switch") return FlowKind::Switch;
  if (name == "Merge") return FlowKind::Merge;
  if (name == "Enter") return FlowKind::Enter;
  if (name == "Exit") return FlowKind::Exit;
  if (name == "NextIteration") return FlowKind::NextIteration;
  if (name == "LoopCond") return FlowKind::LoopCond;
  if (name == "ControlTrigger") return FlowKind::ControlTrigger;
  return FlowKind::None;
}

Result<FrameInfo> assign_frames(std::span<const Node> nodes) { return FrameAssignment(nodes).run(); }

Result<FrameInfo> assign_frames(const Graph& graph, const std::vector<Output>& roots) {
  return FrameAssignment(graph.nodes(), nodes_needed(graph, roots)).run();
}

std::string describe(const FrameInfo& info, FrameId frame) {
  if (frame == root_frame) return "the outermost frame";
  std::string text;
  for (; frame != root_frame; frame = info.frames[frame].parent)
    text += (text.empty() ? "" : " in ") + ("frame '" + info.frames[frame].name + "'");
  return text;
}

}  // namespace troupe
