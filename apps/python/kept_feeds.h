// Which steps may keep their feeds. Python lets Troupe read the memory of the arrays that it feeds, and may change them when the
// step has ended, so what a step assigns to a variable or puts into a queue must not be such memory. Pure functions.
#pragma once

#include <vector>

#include "graph/build/graph.h"

namespace troupe::python {

/// Returns whether a step may store tensors in state that outlives it: whether the fetches need a node with state that is not one
/// of those known to compute new values. Nodes that only lead to feeds do not count.
bool may_keep_feeds(const Graph& graph, const std::vector<Output>& feeds, const std::vector<Output>& fetches);

}  // namespace troupe::python
