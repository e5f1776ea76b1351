// Tasks that are planned, not started: what the master's passes need to know of them. Free functions; any thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "actors/net/worker_devices.h"
#include "actors/runtime.h"

namespace troupe {

/// Returns as many tasks of each job as `counts` says, with `cpus` devices each.
std::vector<TaskOptions> tasks_of(const std::map<std::string, int>& counts, int cpus);
/// Returns the workers that such tasks would be, with their devices.
std::vector<WorkerDevices> workers_of(const std::vector<TaskOptions>& tasks);

}  // namespace troupe
