// Learns where the nodes of a step should go (features.md H10; white paper, section 10): a random policy places parts of the graph,
// a simulation of the step (step_simulation.h) judges each placement, and the policy is drawn towards the best ones (the
// cross-entropy method). Pure function.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/passes/place/node_costs.h"
#include "graph/passes/place/placer.h"

namespace troupe {

/// A PlacementPolicy that takes up to a second of computing. In the simulation no placement that earliest_finish() yields is
/// faster. The same seed yields the same placement; others may yield other ones, which a simulation hardly tells apart but steps
/// may.
std::vector<DeviceId> learned_placement(const Graph& graph, std::span<const DeviceInfo> devices,
                                        const PlacementGroups& groups, const NodeCosts& costs, uint64_t seed);

}  // namespace troupe
