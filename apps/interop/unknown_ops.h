// Which nodes of a body nothing here can run: their ops are unknown, or they call functions with unknown ops, or they need such a
// node. Functions without state.
#pragma once

#include <vector>

#include "apps/interop/body.h"
#include "apps/interop/function_library.h"
#include "graph/build/graph.h"

namespace troupe::interop {

/// Per node of the body, whether it cannot be in the graph; those are noted as its absent nodes.
std::vector<bool> find_absent(const Body& body, const FunctionLibrary& library, Graph& graph);

}  // namespace troupe::interop
