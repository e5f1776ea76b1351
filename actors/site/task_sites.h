// TaskSites: the devices of a task, and what the task's actors share. Made once per task of a process.
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
  /// The session's own container, which is dropped with it; empty: the shared container.
  std::string container;
};

/// What the actors of a task share.
struct TaskSites {
  std::string task;  ///< "/job:worker/replica:0/task:0"
  uint64_t incarnation = 0;
  std::shared_ptr<StateTable> state = std::make_shared<StateTable>();
  std::vector<std::shared_ptr<DeviceSite>> sites;
  /// Used by the worker only; kept here for a restarted worker.
  std::map<uint64_t, RegisteredSession> sessions;

  Address address(std::string role, std::string key = {}) const {
    return {task, incarnation, std::move(role), std::move(key)};
  }
};

}  // namespace troupe
