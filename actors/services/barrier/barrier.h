// The barrier role: one actor per barrier. A take that must wait for elements is kept by the actor; no thread waits. When a
// step ends, its takes are removed. The barrier service starts the role. Schema: messages/schemas/barrier.capnp.
#pragma once

#include <memory>

#include "actors/engine/node.h"
#include "actors/engine/role.h"
#include "actors/services/barrier/barrier_spec.h"
#include "devices/device.h"

namespace troupe {

/// Returns the role of an empty barrier. Stacked elements are allocated on `device`, whose memory must be host memory.
std::unique_ptr<Role> make_barrier(ActorNode& node, const BarrierSpec& spec, std::shared_ptr<Device> device);

}  // namespace troupe
