// Common subexpressions: finds, among nodes seen so far, one that computes the same (features.md K2). Used by simplify alone.
#pragma once

#include <unordered_map>

#include "graph/passes/graph_draft.h"

namespace troupe {

class CommonSubexpressions {
 public:
  explicit CommonSubexpressions(const GraphDraft& draft) : draft_(draft) {}

  /// An earlier pure node of equal op, attributes, inputs, control inputs and requested devices; or the node itself, which is then
  /// known to later ones. The two inputs of a commutative op count in any order.
  NodeId find_or_add(NodeId id);

 private:
  const GraphDraft& draft_;
  std::unordered_multimap<uint64_t, NodeId> known_;
};

}  // namespace troupe
