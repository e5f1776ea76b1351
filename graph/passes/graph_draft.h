// GraphDraft: the nodes of a graph while a pass rewrites them. A node's id is its position; what is no longer used stays until the
// pass builds the next graph. Used by simplify and its rules alone.
#pragma once

#include <vector>

#include "graph/build/graph.h"

namespace troupe {

struct GraphDraft {
  std::vector<Node> nodes;

  const Node& node(NodeId id) const { return nodes[id]; }
  EdgeType type(Output output) const { return nodes[output.node].output_types[output.index]; }
  const PartialShape& shape(Output output) const { return nodes[output.node].output_shapes[output.index]; }
  /// The value of a Const node, or null.
  const Tensor* constant(Output output) const {
    const Node& source = nodes[output.node];
    return source.type() == "Const" ? &source.attrs.get<Tensor>("value") : nullptr;
  }
};

}  // namespace troupe
