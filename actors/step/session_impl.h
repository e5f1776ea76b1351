// How a session is opened on a node of actors, real or simulated. Not installed.
#pragma once

#include <vector>

#include "actors/site/task_sites.h"
#include "actors/step/session.h"
#include "actors/step/step_compiler.h"

namespace troupe {

/// A task and its devices, as a session sees them.
WorkerDevices worker_of(const TaskSites& task);

/// A session over these workers; its master, and the coordinator of its checkpoints, are at `task`, which lies on the node. `id` as
/// for spawn_master.
Session open_session(ActorNode& node, const TaskSites& task, uint64_t id, const Graph& graph,
                     std::vector<WorkerDevices> workers, const SessionOptions& options);

}  // namespace troupe
