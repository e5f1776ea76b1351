// The trainer of a node: runs a worker's part of a training. Its actor receives requests (messages/schemas/trainer.capnp), and a
// thread of its own serves them one at a time, because the rounds of a replica take long and block on the steps of a session.
#pragma once

#include "apps/services/node_service.h"

namespace troupe::services {

/// The role of the actor (actors/node_services.h).
inline constexpr const char* trainer_role = "trainer";

/// Starts the trainer. Throws Error.
std::unique_ptr<NodeService> start_trainer(Runtime& runtime);

}  // namespace troupe::services
