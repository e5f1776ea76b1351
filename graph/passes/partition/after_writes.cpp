#include "graph/passes/partition/after_writes.h"

namespace troupe {

Result<std::vector<bool>> after_writes(const Graph& graph) {
  TROUPE_ASSIGN(const auto order, topological_order(graph));
  std::vector<bool> result(graph.size(), false);
  for (const NodeId id : order) {
    const Node& node = graph.node(id);
    bool after = false;
    const auto look = [&](NodeId before) {
      after = after || result[before] || graph.node(before).op->is_of_service(variable_service);
    };
    for (const Output& input : node.inputs) look(input.node);
    for (const NodeId control : node.control_inputs) look(control);
    result[id] = after;
  }
  return result;
}

}  // namespace troupe
