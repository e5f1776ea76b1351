// Activation and Where: how a running step names one run of a node, to itself and to others. Plain values.
#pragma once

#include <cstdint>

namespace troupe {

/// One run of one node in a certain iteration, alive or dead.
struct Activation {
  uint32_t node = 0;   ///< the node's number in the plan
  uint32_t place = 0;  ///< private to StepState: twice the index of the iteration, plus one if dead

  bool dead() const { return (place & 1) != 0; }
  friend bool operator==(const Activation&, const Activation&) = default;
};

/// Where in a step a node runs, by numbers that are equal in all partitions.
struct Where {
  uint64_t frame = 0;  ///< the key of the frame's instance; 0 outside all loops
  uint64_t iteration = 0;
};

}  // namespace troupe
