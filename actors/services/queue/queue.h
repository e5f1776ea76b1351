// The queue role: one actor per queue of any kind (features.md E1-E10). An enqueue that must wait for room and a
// dequeue that must wait for elements are attempts kept by the actor; no thread waits. When a step ends, its attempts are removed.
// The queue service starts the role. Schema: messages/schemas/queue.capnp.
#pragma once

#include <memory>

#include "actors/engine/node.h"
#include "actors/engine/role.h"
#include "actors/services/queue/queue_spec.h"
#include "devices/device.h"

namespace troupe {

/// Returns the role of an empty queue. Stacked elements are allocated on `device`, whose memory must be host memory.
std::unique_ptr<Role> make_queue(ActorNode& node, QueueSpec spec, std::shared_ptr<Device> device);

}  // namespace troupe
