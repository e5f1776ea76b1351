// The worker role: one per task; runs the parts of steps that lie on the devices of its task. It prepares partitions, spawns an
// executor per device and fans each RunPartition out to them. Schema: messages/schemas/worker.capnp.
#pragma once

#include <memory>

#include "actors/site/task_sites.h"

namespace troupe {

ActorRef spawn_worker(ActorNode& node, std::shared_ptr<TaskSites> task);

/// The address that the executor of a partition on a device has: both master and workers make it from the same parts.
Address executor_address(const Address& worker, uint64_t session, uint64_t partition,
                         const std::string& device);

}  // namespace troupe
