// What a run must know to go on where it was, to and from checkpoint files: the step, the early stopping so far, the variables
// and, when the best are kept, those. One thread, that of the trainer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "actors/checkpoint_files.h"
#include "apps/nn/state.h"

namespace troupe::train {

/// Early stopping's memory.
struct BestSoFar {
  std::optional<double> score;
  uint64_t epoch = 0;          ///< in which it was reached
  nn::NamedTensors variables;  ///< then; empty unless they are kept
};

struct Progress {
  uint64_t step = 0;  ///< training steps done
  BestSoFar best;
};

Checkpoint to_checkpoint(const Progress& progress, const nn::NamedTensors& variables);
/// DataLoss when the note is not one of ours.
Result<Progress> from_checkpoint(const Checkpoint& checkpoint, nn::NamedTensors& variables);

}  // namespace troupe::train
