// The hyperparameters of a run: what its run file says about the training and may be another value in the next run. A function
// without state; any thread.
#pragma once

#include "apps/config/run_config.h"
#include "apps/observe/event_file.h"

namespace troupe::train {

/// Returns the numbers, flags and texts of [train], except those of checkpoints and faults, data.batch and run.seed.
observe::Hyperparameters hyperparameters(const config::RunConfig& config);

}  // namespace troupe::train
