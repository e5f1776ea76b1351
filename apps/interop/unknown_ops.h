// Finds the nodes of a body that cannot run because their ops are unknown, because they call functions with unknown ops, or because
// they need such a node. A function without state; any thread.
#pragma once

#include <vector>

#include "apps/interop/body.h"
#include "apps/interop/functions/function_library.h"
#include "graph/build/graph.h"

namespace troupe::interop {

/// Returns, for each node of the body, whether it must be left out of the graph, and records these as absent nodes of the graph.
std::vector<bool> find_absent(const Body& body, const FunctionLibrary& library, Graph& graph);

}  // namespace troupe::interop
