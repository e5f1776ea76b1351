// The devices of the stages of a model, and the tasks of a run in one process. Free functions; any thread.
#pragma once

#include <string>
#include <vector>

#include "actors/runtime.h"
#include "apps/config/run_config.h"

namespace troupe::train {

/// Returns the tasks of a run in one process. Without config.cluster.tasks it is one task with a device for each stage.
std::vector<TaskOptions> tasks_in_process(const config::RunConfig& config);

/// By stage: its devices, several if the model has split variables.
using StageDevices = std::vector<std::vector<std::string>>;

/// Returns the devices of each group (RunConfig::groups): the first stages have the devices of the first workers. In one process
/// they are GPUs if each task has enough of them. Fails with InvalidArgument if the devices of the workers cannot be shared out
/// evenly among groups.
Result<std::vector<StageDevices>> stage_devices(const config::RunConfig& config);

}  // namespace troupe::train
