// The memory and the traffic of a training step, estimated without running it. Free functions; one thread.
#pragma once

#include <string>
#include <vector>

#include "apps/train/graphs/training_graph.h"
#include "kernels/core/kernel.h"

namespace troupe::train {

/// What one task needs, in bytes.
struct TaskMemory {
  std::string task;
  size_t variables = 0;  ///< with the state of the optimizer
  size_t step = 0;       ///< of the tensors of a step at its peak
  size_t sent = 0;       ///< to other tasks in a step
};

/// Returns what each task needs for a training step with a whole batch. Memory that kernels use beside their outputs is not
/// included. Fails with Unimplemented if the model has branches or loops, or the data ragged columns.
Result<std::vector<TaskMemory>> estimate_memory(const config::RunConfig& config, const Graph& graph,
                                                const TrainingGraph& training, const OpLibrary& library);

}  // namespace troupe::train
