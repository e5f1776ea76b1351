// Activation and Where: how a running step names one run of a node, to itself and to others. Plain values.
#pragma once

#include <cstdint>

namespace troupe {

/// One run of one node: in which iteration, and whether as a dead one.
struct Activation {
  uint32_t node = 0;   ///< the node's number in the plan
  uint32_t place = 0;  ///< private to StepState: index of the iteration, doubled; plus one when dead

  bool dead() const { return (place & 1) != 0; }
  friend bool operator==(const Activation&, const Activation&) = default;
};

/// A place within a step that all partitions know by the same numbers.
struct Where {
  uint64_t frame = 0;  ///< key of the frame's instance; 0 outside any loop
  uint64_t iteration = 0;
};

}  // namespace troupe
