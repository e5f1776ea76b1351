// The batch roles: a batch joins rows of several steps, an unbatch gives each step its part of a batch, a batch gradient joins
// the gradients of the parts. Requests that wait are kept by the actors; no thread waits. When a step ends, its requests are
// removed. The batch service starts the roles. Schema: messages/schemas/batch.capnp.
#pragma once

#include <memory>

#include "actors/engine/node.h"
#include "actors/engine/role.h"
#include "actors/services/batch/batch_spec.h"

namespace troupe {

/// Return the roles. What is joined is allocated on `device`, whose memory must be host memory.
std::unique_ptr<Role> make_batch(ActorNode& node, const BatchSpec& spec, std::shared_ptr<Device> device);
std::unique_ptr<Role> make_unbatch(ActorNode& node, const BatchSpec& spec);
std::unique_ptr<Role> make_batch_gradient(ActorNode& node, const BatchSpec& spec,
                                          std::shared_ptr<Device> device);

}  // namespace troupe
