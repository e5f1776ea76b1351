// TaskSites: the devices of a task and what the task's actors know together. Made once per task of a process; all names are of
// that task.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "actors/site/device_site.h"

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

}  // namespace troupe
