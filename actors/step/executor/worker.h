// The worker role: one per task. It runs the parts of steps that lie on the devices of its task: it prepares partitions, spawns one
// executor per device, and forwards each RunPartition to them. Schema: messages/schemas/worker.capnp.
#pragma once

#include <memory>

#include "actors/site/task_sites.h"

namespace troupe {

ActorRef spawn_worker(ActorNode& node, std::shared_ptr<TaskSites> task);

/// Returns the address of the executor of a partition on a device. Masters and workers compute it independently.
Address executor_address(const Address& worker, uint64_t session, uint64_t partition,
                         const std::string& device);

}  // namespace troupe
