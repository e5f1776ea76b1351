// A task: its devices with the permanent actors in front of them and beside them, under one supervisor. Made once per task of a
// process; all names are of that task.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "actors/device.h"
#include "actors/supervisor.h"

namespace troupe {

/// A session that has registered partitions with the task's worker.
struct RegisteredSession {
  ActorRef master;
  std::string container;  ///< its own, which goes with it; empty: the one that sessions share
};

/// What worker and checkpoint writer share.
struct TaskSites {
  std::string task;  ///< "/job:worker/replica:0/task:0"
  uint64_t incarnation = 0;
  std::shared_ptr<StateTable> state = std::make_shared<StateTable>();
  std::vector<std::shared_ptr<DeviceSite>> sites;
  std::map<uint64_t, RegisteredSession> sessions;  ///< the worker's, and after it its successor's

  Address address(std::string role, std::string key = {}) const {
    return {task, incarnation, std::move(role), std::move(key)};
  }
};

/// Spawns the device, variable and replicas roles of each device, the worker, the writer and the coordinator of checkpoints, and
/// their supervisor, all entered in the directory. `given_up` as for spawn_supervisor.
std::shared_ptr<TaskSites> make_task(ActorNode& node, std::string task, uint64_t incarnation,
                                     std::vector<std::shared_ptr<Device>> devices, GivenUp given_up = {});

}  // namespace troupe
