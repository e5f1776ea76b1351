// Late receives: when the Recv nodes of a partitioned graph start (features.md I8; white paper, section 5.2). A tensor that is
// asked for as soon as a step begins waits in the memory of the receiver until its consumers run. Pure function.
#pragma once

#include <span>
#include <vector>

#include "graph/passes/partition/crossings.h"
#include "graph/passes/place/placer.h"

namespace troupe {

/// Returns for each transfer the node of the receiving device after which its Recv is to start, or no_node if it may start at once.
/// The step is simulated with estimated times (NodeCosts). A Recv of a large tensor from another task waits for the last node that
/// ends well before its first consumer starts, and that runs whenever the tensor is sent. Such edges close no cycle, because all of
/// them lead forward in the simulated order. `order` is a topological one.
std::vector<NodeId> late_receives(const Graph& graph, std::span<const NodeId> order, const FrameInfo& frames,
                                  std::span<const DeviceId> device, std::span<const DeviceInfo> devices,
                                  std::span<const Transfer> transfers);

}  // namespace troupe
