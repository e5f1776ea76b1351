// Says which nodes run after a change of a variable, so that they may not read what the variable was before. A function without
// state; any thread.
#pragma once

#include <vector>

#include "graph/build/graph.h"

namespace troupe {

/// Returns for each node whether an op of the variable service precedes it. Fails with InvalidArgument if the graph has a cycle.
Result<std::vector<bool>> after_writes(const Graph& graph);

}  // namespace troupe
