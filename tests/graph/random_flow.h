// Random graphs of control flow: conditionals, nested loops, dead values that leave branches, triggers, and control
// edges everywhere. The results of each graph do not depend on the order in which its nodes run. One thread.
#pragma once

#include <cstdint>

#include "tests/graph/flow_graph.h"

namespace troupe::testing {

/// Returns a graph that depends on the seed only. `depth` limits the nesting of loops and conditionals.
FlowGraph random_flow(uint64_t seed, int depth);

}  // namespace troupe::testing
