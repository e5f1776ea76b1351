// The worker role: one per task; runs the parts of steps that lie on the devices of its task. It prepares partitions, spawns an
// executor per device and fans each RunPartition out to them. Schema: messages/worker.capnp.
#pragma once

#include <memory>
#include <vector>

#include "actors/device.h"

namespace troupe {

/// The devices of a task with the roles in front of them; all names are of that task. Shared by worker and checkpoint.
struct TaskSites {
  std::string task;  ///< "/job:worker/replica:0/task:0"
  uint64_t incarnation = 0;
  std::shared_ptr<StateContainer> state = std::make_shared<StateContainer>();
  std::vector<std::shared_ptr<DeviceSite>> sites;

  Address address(std::string role, std::string key = {}) const {
    return {task, incarnation, std::move(role), std::move(key)};
  }
};

/// Spawns the device, variable and replicas roles of each device and the writer of checkpoints, and enters them in the
/// directory.
std::shared_ptr<TaskSites> make_task(ActorNode& node, std::string task, uint64_t incarnation,
                                     std::vector<std::shared_ptr<Device>> devices);

/// Entered in the directory as role "worker" of the task.
ActorRef spawn_worker(ActorNode& node, std::shared_ptr<TaskSites> task);

/// The address that the executor of a partition on a device has: both master and workers make it from the same parts.
Address executor_address(const Address& worker, uint64_t session, uint64_t partition,
                         const std::string& device);

}  // namespace troupe
