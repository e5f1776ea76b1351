// GraphDraft: the nodes of a graph while a pass rewrites them. The id of a node is its position. Nodes that are
// not needed any more stay until the pass builds the next graph. Used by simplify and its rules only. One thread.
#pragma once

#include <vector>

#include "graph/build/graph.h"

namespace troupe {

struct GraphDraft {
  std::vector<Node> nodes;

  const Node& node(NodeId id) const { return nodes[id]; }
  EdgeType type(Output output) const { return nodes[output.node].output_types[output.index]; }
  const PartialShape& shape(Output output) const { return nodes[output.node].output_shapes[output.index]; }
  /// Returns the value of a Const node, or null for any other node.
  const Tensor* constant(Output output) const {
    const Node& source = nodes[output.node];
    return source.type() == "Const" ? &source.attrs.get<Tensor>("value") : nullptr;
  }
};

}  // namespace troupe
