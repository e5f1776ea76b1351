// Places nodes by simulating the step (features.md H9; white paper, section 3.2.1): nodes are taken in the order in which their
// inputs are ready, and each goes to the candidate where it would end first, the transfers of its inputs included. Pure function.
#pragma once

#include <span>
#include <vector>

#include "graph/passes/node_costs.h"
#include "graph/passes/placer.h"

namespace troupe {

/// A PlacementPolicy for estimated or measured costs.
/// - A node that computes nothing (NodeCosts::is_free) goes to its first input, or else, as a variable or constant does, to its
///   first consumer. The members of a group go where the first of them that computes goes.
/// - What only gives variables their first values is placed last, so that variables lie where steps need them.
/// - The nodes of a loop share a device if they may, because an iteration on several devices sends its condition to each of them.
/// - A device whose memory the variables placed there would exceed comes last.
std::vector<DeviceId> earliest_finish(const Graph& graph, std::span<const DeviceInfo> devices,
                                      const PlacementGroups& groups, const NodeCosts& costs);

}  // namespace troupe
