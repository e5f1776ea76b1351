// A run: one training from its start, or from a checkpoint, to its end or to the loss of a process of its cluster. One thread, that
// of the trainer.
#pragma once

#include <string>
#include <vector>

#include "apps/train/trainer.h"

namespace troupe::train {

/// The state after a run has ended or lost a process.
struct Outcome {
  Result<TrainingResult> result;
  std::string folder;               ///< the folder of the run; empty: none
  std::vector<std::string> silent;  ///< the tasks of the cluster that do not answer
};

/// Runs a training, as train() does, but never restarts it. If `is_restart`, the run continues after a loss, in the folder
/// options.resume.
Outcome run_once(const config::RunConfig& config, const TrainerOptions& options,
                 const data::TrainAndValid& data, bool is_restart);

}  // namespace troupe::train
