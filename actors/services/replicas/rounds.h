// Rounds: the actor that coordinates the rounds of synchronous trainings (messages/schemas/rounds.capnp). One per device; a
// training uses the one beside its first variable.
#pragma once

#include "actors/engine/node.h"

namespace troupe {

/// The name of its role. The key of its address is the name of the device.
inline constexpr const char* rounds_role = "rounds";

ActorRef spawn_rounds(ActorNode& node, const Address& self);

}  // namespace troupe
