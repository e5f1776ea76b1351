// Random graphs of control flow: conditionals, loops in loops, dead values that stray out of branches,
// triggers, control edges everywhere. Every one is a graph whose results do not depend on the order in which
// nodes run.
#pragma once

#include <cstdint>

#include "tests/graph/flow_graph.h"

namespace troupe::testing {

/// Equal seeds give equal graphs. `depth`: how deep loops and conditionals may nest.
FlowGraph random_flow(uint64_t seed, int depth);

}  // namespace troupe::testing
