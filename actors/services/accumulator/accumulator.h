// The accumulator role: one actor per accumulator (features.md R3, R4). A take that must wait for gradients is kept by the actor;
// no thread waits. When a step ends, its takes are removed. The accumulator service starts the role. Schema:
// messages/schemas/accumulator.capnp.
#pragma once

#include <memory>

#include "actors/engine/node.h"
#include "actors/engine/role.h"
#include "actors/services/accumulator/accumulator_spec.h"
#include "devices/device.h"

namespace troupe {

/// Returns the role of an empty accumulator in step 0. Sums are allocated on `device`, whose memory must be host memory.
std::unique_ptr<Role> make_accumulator(ActorNode& node, AccumulatorSpec spec, std::shared_ptr<Device> device);

}  // namespace troupe
