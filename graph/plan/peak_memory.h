// The memory that the tensors of a step take at its peak, estimated before the step runs. Plain values.
#pragma once

#include <cstddef>

#include "graph/plan/plan.h"

namespace troupe {

struct PeakMemory {
  size_t bytes = 0;    ///< of all tensors that exist at the same time
  size_t unknown = 0;  ///< how many outputs count as nothing, because their sizes are not known
};

/// Estimates the memory of a step that one thread drives. Outputs count from the start of their node to the end of the last node
/// that reads them. What kernels need beside their outputs does not count, nor do constants, fed tensors and variables. Fails with
/// Unimplemented if the plan has branches or loops.
Result<PeakMemory> estimate_peak(const Plan& plan);

}  // namespace troupe
