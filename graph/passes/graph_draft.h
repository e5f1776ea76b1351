// GraphDraft: the nodes of a graph while a pass rewrites them. The id of a node is its position. Nodes that are
// not needed any more stay until the pass builds the next graph. Used by the passes only. One thread.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "graph/passes/subgraph.h"

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

  /// Removes the nodes that are not needed, which no needed node refers to. Returns the new id of each node, or no_node.
  std::vector<NodeId> keep(const std::vector<bool>& needed);
  /// Returns the graph of these nodes. `empty` has its ops and functions.
  Graph into(Graph empty) &&;
};

/// Names for nodes that a pass adds.
class NodeNames {
 public:
  explicit NodeNames(const GraphDraft& draft) : draft_(draft) {}
  /// Returns a name that no node has and that was not returned before: `base`, or it with a number behind it.
  std::string unique(const std::string& base);

 private:
  const GraphDraft& draft_;
  std::unordered_set<std::string> names_;  ///< filled by the first call
};

}  // namespace troupe
