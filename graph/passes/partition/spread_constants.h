// Gives each device with memory of its own, and each of its two memories, a copy of the constants that its nodes take, so that a
// step moves none of them. Runs after placement, before the graph is cut. A function without state; one thread.
#pragma once

#include <span>
#include <vector>

#include "graph/passes/place/placer.h"

namespace troupe {

/// Adds the copies to `graph` and their devices to `device`, which has one for each node. Constants that only CPUs take stay as
/// they are.
Status spread_constants(Graph& graph, std::vector<DeviceId>& device, std::span<const DeviceInfo> devices);

}  // namespace troupe
