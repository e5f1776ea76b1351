// A task: its devices, the permanent actors that serve them, and their supervisor.
#pragma once

#include <span>

#include "actors/site/extensions.h"
#include "actors/site/task_sites.h"
#include "actors/supervision/supervisor.h"

namespace troupe {

/// Makes a task: makes the services of each device, which are those of all_services() and `more_services`, and spawns their
/// actors, the worker, the checkpoint writer, the checkpoint coordinator and the supervisor of all these. Enters the actors in
/// the directory. `on_failure` is passed to the supervisor.
std::shared_ptr<TaskSites> make_task(ActorNode& node, std::string task, uint64_t incarnation,
                                     std::vector<std::shared_ptr<Device>> devices, OnFailure on_failure = {},
                                     std::span<const ServiceDef> more_services = {});

}  // namespace troupe
