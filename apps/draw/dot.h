// Drawings of graphs in the dot language of graphviz. A node shows its name and op, and has the colour of its device. An edge shows
// the type and shape of its tensor; control edges are dashed. Functions without state; any thread.
#pragma once

#include <string>

#include "actors/step/step_compiler.h"
#include "graph/build/graph.h"

namespace troupe::draw {

/// Returns a drawing of the graph as it was built, with the devices that its nodes request.
std::string dot(const Graph& graph);

/// Returns a drawing of a step: each device's partition in a box of its own, with an edge from each Send to its Recv.
std::string dot(const PlacedStep& step);

}  // namespace troupe::draw
