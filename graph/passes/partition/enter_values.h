// Lets loops take the value of a variable on another device once, when they begin, where they would read the variable across
// devices in every iteration. Runs after placement, before the graph is cut. A function without state; one thread.
#pragma once

#include <vector>

#include "graph/passes/place/placer.h"

namespace troupe {

/// In place of the reference that a RefEnter brings into a loop, readers on other devices get the value from an Enter, whose device
/// is added to `device`, which has one for each node. A loop that changes the variable, and readers that follow a change of some
/// variable, keep the reference: they must see every change. Fails if the graph is no valid one.
Status enter_values(Graph& graph, std::vector<DeviceId>& device);

}  // namespace troupe
