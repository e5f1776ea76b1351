// Drawings of graphs in the language of graphviz. Nodes have their names and ops, and the colour of their device; edges the type and
// shape of what they carry; control edges are dashed. Functions without state.
#pragma once

#include <string>

#include "actors/step/step_compiler.h"
#include "graph/build/graph.h"

namespace troupe::draw {

/// The graph as it was built; devices are those that the nodes ask for.
std::string dot(const Graph& graph);

/// What each device runs in a step, in a box of its own, and what goes from one to another: from a Send to its Recv.
std::string dot(const PlacedStep& step);

}  // namespace troupe::draw
