#include "graph/build/known_shapes.h"

#include <algorithm>

namespace troupe {

Result<Graph> with_known_shapes(const Graph& graph, std::span<const std::pair<Output, PartialShape>> known) {
  Graph result = graph.empty();
  result.reserve(graph.size());
  for (const Node& node : graph.nodes()) {
    if (std::ranges::any_of(node.inputs, [&](Output input) { return input.node >= node.id; }))
      return unimplemented("the shapes in a loop cannot be inferred anew").at_node(node.type(), node.name);
    NodeSpec spec{node.name,           node.type(), node.attrs,        node.inputs,
                  node.control_inputs, node.device, node.colocate_with};
    TROUPE_ASSIGN(const NodeId id, result.add(std::move(spec)));
    for (const auto& [output, shape] : known)
      if (output.node == id) TROUPE_RETURN_IF_FAILED(result.refine_shape({id, output.index}, shape));
  }
  return result;
}

}  // namespace troupe
