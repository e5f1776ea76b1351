// The passes that simplify a step before it is placed: what keeps every bit, and then what keeps the value of expressions. The
// master and loaded models use them. A function without state; any thread.
#pragma once

#include "graph/passes/subgraph.h"
#include "kernels/core/kernel.h"

namespace troupe {

/// Constants are folded on the calling thread, in memory of its own. Fails with InvalidArgument for a cycle.
Status simplify_step(Subgraph& subgraph, const OpLibrary& library);

}  // namespace troupe
