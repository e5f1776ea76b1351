#include "graph/passes/graph_draft.h"

namespace troupe {

std::vector<NodeId> GraphDraft::keep(const std::vector<bool>& needed) {
  std::vector<NodeId> new_id(nodes.size(), no_node);
  NodeId next = 0;
  for (NodeId id = 0; id < nodes.size(); ++id)
    if (needed[id]) new_id[id] = next++;
  if (next == nodes.size()) return new_id;
  for (NodeId id = 0; id < nodes.size(); ++id) {
    if (!needed[id]) continue;
    Node& node = nodes[id];
    for (Output& input : node.inputs) input.node = new_id[input.node];
    for (NodeId& control : node.control_inputs) control = new_id[control];
    node.id = new_id[id];
    if (node.id != id) nodes[node.id] = std::move(node);
  }
  nodes.resize(next);
  return new_id;
}

Graph GraphDraft::into(Graph empty) && {
  empty.reserve(nodes.size());
  for (Node& node : nodes) empty.append(std::move(node));
  return empty;
}

std::string NodeNames::unique(const std::string& base) {
  if (names_.empty())
    for (const Node& node : draft_.nodes) names_.insert(node.name);
  std::string name = base;
  for (int i = 1; !names_.insert(name).second; ++i) name = base + '_' + std::to_string(i);
  return name;
}

}  // namespace troupe
