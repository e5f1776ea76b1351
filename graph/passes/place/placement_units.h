// PlacementUnits: the parts of a graph that a search places as wholes. Tensors with many bytes are within a unit rather than
// between two. Plain values; one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/passes/place/step_simulation.h"

namespace troupe {

/// Groups of nodes with the same candidates.
struct PlacementUnit {
  std::vector<uint32_t> groups;
  double seconds = 0;  ///< that all of its nodes take, on their first candidates
};

/// Returns at most `max_units` units, which have all groups that compute and have several candidates, or if there are more, those
/// that take the longest. The nodes of a loop are in one unit.
std::vector<PlacementUnit> placement_units(const StepModel& model, size_t max_units);

}  // namespace troupe
