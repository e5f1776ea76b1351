// The trainer of a node: carries out a worker's part of a training run. Its actor takes requests (schema:
// messages/schemas/trainer.capnp), and a thread of its own carries them out, one at a time: a replica's rounds take long, so they
// run as in any client of a session.
#pragma once

#include "apps/services/node_service.h"

namespace troupe::services {

/// The role of its actor (actors/node_services.h).
inline constexpr const char* trainer_role = "trainer";

/// Throws Error.
std::unique_ptr<NodeService> start_trainer(Runtime& runtime);

}  // namespace troupe::services
