#include "graph/build/recomputation.h"

#include <algorithm>

namespace troupe {
namespace {

const std::string* segment_of(const Node& node) {
  const AttrValue* const value = node.attrs.find(segment_attr);
  return value ? std::get_if<std::string>(value) : nullptr;
}

bool in_same_segment(const Node& a, const Node& b) {
  const std::string *const first = segment_of(a), *const second = segment_of(b);
  return first && second && *first == *second;
}

/// Returns true if a second node of this kind would compute the same. Nodes without inputs are kept as they are.
bool may_be_copied(const Node& node) {
  return node.op->served_by == ServedBy::Kernel && !node.inputs.empty() &&
         (node.op->effect == Effect::Pure || node.op->effect == Effect::Random) &&
         std::ranges::none_of(node.output_types, &EdgeType::is_ref);
}

std::vector<NodeId> nodes_of(std::span<const Gradient> gradients) {
  std::vector<NodeId> nodes;
  for (const Gradient& gradient : gradients)
    if (const auto* const output = std::get_if<Output>(&gradient))
      nodes.push_back(output->node);
    else if (const auto* const slices = std::get_if<IndexedSlices>(&gradient))
      nodes.push_back(slices->values.node);
  return nodes;
}

}  // namespace

Recomputation::Recomputation(const Scope& scope, const Loops& loops) : scope_(scope), loops_(loops) {
  const Graph& graph = scope.graph();
  leaves_segment_.resize(graph.size(), false);
  for (const Node& node : graph.nodes()) {
    if (const std::string* const segment = segment_of(node); segment && !in_loop(node.id))
      segments_[*segment].nodes.push_back(node.id);
    for (const Output& input : node.inputs)
      if (!in_same_segment(node, graph.node(input.node))) leaves_segment_[input.node] = true;
  }
}

Recomputation::Source Recomputation::source(NodeId node, std::span<const Gradient> output_gradients) {
  if (in_loop(node)) return {node, node};
  if (const std::string* const name = segment_of(scope_.graph().node(node))) {
    Segment& segment = segments_.at(*name);
    if (!segment.copied) copy(segment, output_gradients);
    segment.copied = true;
  }
  const auto copy = copies_.find(node);
  if (copy == copies_.end()) return {node, node};
  return {copy->second, leaves_segment_[node] ? node : copy->second};
}

void Recomputation::copy(const Segment& segment, std::span<const Gradient> output_gradients) {
  const std::vector<NodeId> triggers = nodes_of(output_gradients);
  for (const NodeId node : segment.nodes)
    if (may_be_copied(scope_.graph().node(node))) copy(node, triggers);
}

/// Adds the copy of a node. If it reads no other copy, it waits for the triggers.
void Recomputation::copy(NodeId original, const std::vector<NodeId>& triggers) {
  Graph& graph = scope_.graph();
  const Node node = graph.node(original);
  NodeSpec spec;
  spec.name = graph.unique_name(scope_.prefix() + "again/" + node.name);
  spec.op = node.type();
  spec.attrs = node.attrs;
  spec.attrs.erase(segment_attr);
  spec.attrs.set(copy_attr, true);
  if (node.op->effect == Effect::Random) spec.attrs.set(original_attr, node.name);
  spec.device = node.device;
  spec.colocate_with = node.colocate_with;
  bool reads_copy = false;
  for (const Output& input : node.inputs) {
    const auto copy = copies_.find(input.node);
    const bool copied = copy != copies_.end() && in_same_segment(node, graph.node(input.node));
    reads_copy = reads_copy || copied;
    spec.inputs.push_back(copied ? Output{copy->second, input.index} : input);
  }
  if (!reads_copy) spec.control_inputs = triggers;
  copies_.emplace(original, value_or_throw(graph.add(std::move(spec))));
}

}  // namespace troupe
