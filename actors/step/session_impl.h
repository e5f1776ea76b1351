// Opening a session on a node, real or simulated. For the library and its tests; not installed.
#pragma once

#include <memory>
#include <vector>

#include "actors/site/task_sites.h"
#include "actors/step/session.h"
#include "actors/step/step_compiler.h"

namespace troupe {

/// Returns the worker of a task of this process, and its devices.
WorkerDevices worker_of(const TaskSites& task);

/// Opens a session over these workers. Its master, and the coordinator of its checkpoints, belong to `task`, a task of this node.
/// `id` is the random number that names the session. The session keeps `owner` alive, which has the node; null: it outlives the
/// session.
Session open_session(ActorNode& node, const TaskSites& task, uint64_t id, const Graph& graph,
                     std::vector<WorkerDevices> workers, const SessionOptions& options,
                     std::shared_ptr<void> owner = nullptr);

}  // namespace troupe
