// A task: its devices with the permanent actors in front of them and beside them, under one supervisor.
#pragma once

#include <span>

#include "actors/site/extensions.h"
#include "actors/site/task_sites.h"
#include "actors/supervision/supervisor.h"

namespace troupe {

/// Makes the services of each device, those of all_services() and `more_services`, whose names must differ; spawns their actors, the worker, the writer and the coordinator of checkpoints, and
/// their supervisor, all entered in the directory.
std::shared_ptr<TaskSites> make_task(ActorNode& node, std::string task, uint64_t incarnation,
                                     std::vector<std::shared_ptr<Device>> devices, OnFailure on_failure = {},
                                     std::span<const ServiceDef> more_services = {});

}  // namespace troupe
