// CommonSubexpressions: finds earlier nodes that compute the same (features.md K2). Used by simplify only. One thread.
#pragma once

#include <unordered_map>

#include "graph/passes/graph_draft.h"

namespace troupe {

class CommonSubexpressions {
 public:
  explicit CommonSubexpressions(const GraphDraft& draft) : draft_(draft) {}

  /// Returns an earlier pure node with the same op, attributes, inputs, control inputs and requested devices. If there is none,
  /// returns the node itself, and remembers it for later calls. The order of the two inputs of a commutative op does not count.
  NodeId find_or_add(NodeId id);

 private:
  const GraphDraft& draft_;
  std::unordered_multimap<uint64_t, NodeId> known_;
};

}  // namespace troupe
