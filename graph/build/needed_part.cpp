#include "graph/build/needed_part.h"

namespace troupe {

std::vector<bool> nodes_needed(const Graph& graph, const std::vector<Output>& by,
                               const std::vector<Output>& given) {
  std::vector<bool> needed(graph.size()), is_given(graph.size());
  for (const Output& output : given) is_given[output.node] = true;
  std::vector<NodeId> next;
  for (const Output& output : by) next.push_back(output.node);
  while (!next.empty()) {
    const NodeId id = next.back();
    next.pop_back();
    if (needed[id]) continue;
    needed[id] = true;
    if (is_given[id]) continue;
    const Node& node = graph.node(id);
    for (const Output& input : node.inputs) next.push_back(input.node);
    next.insert(next.end(), node.control_inputs.begin(), node.control_inputs.end());
  }
  return needed;
}

NeededPart::NeededPart(const Graph& graph, const std::vector<Output>& roots)
    : part_(graph.empty()), new_ids_(graph.size()) {
  const std::vector<bool> needed = nodes_needed(graph, roots);
  NodeId next = 0;
  for (NodeId id = 0; id < graph.size(); ++id)
    if (needed[id]) new_ids_[id] = next++;
  for (const Node& old : graph.nodes()) {
    if (!needed[old.id]) continue;
    Node node = old;
    for (Output& input : node.inputs) input.node = new_ids_[input.node];
    for (NodeId& control : node.control_inputs) control = new_ids_[control];
    node.device.clear();
    node.colocate_with.clear();
    part_.append(std::move(node));
  }
}

}  // namespace troupe
