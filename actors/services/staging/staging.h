// The staging roles: one actor per staging area. Puts that must wait for room and takes that must wait for tuples are kept by
// the actor; no thread waits. When a step ends, its requests are removed. The staging service starts the roles. Schema:
// messages/schemas/staging.capnp.
#pragma once

#include <memory>

#include "actors/engine/node.h"
#include "actors/engine/role.h"
#include "actors/services/staging/staging_spec.h"

namespace troupe {

/// Returns the role of an empty area: a stage or a map.
std::unique_ptr<Role> make_staging(ActorNode& node, const StagingSpec& spec);

}  // namespace troupe
