// Element stack: answers a request with elements stacked along dimension 0. A small stack is filled in the handler, a large one
// on the pool. Used by the actors that keep elements (queues, barriers).
#pragma once

#include <functional>

#include "actors/engine/node.h"
#include "actors/engine/role.h"
#include "actors/services/queue/queue_elements.h"

namespace troupe {

inline constexpr size_t max_bytes_in_handler = 64 << 10;  ///< more bytes are copied outside the handler

/// Answers `reply` with the message that `message` makes of the stacked components. `elements` must not be empty. If there is
/// no memory for the stack, answers ResourceExhausted and returns the elements; else returns none.
ElementQueue stack_elements(ActorNode& node, Device& device, ElementQueue elements, Reply reply,
                            std::function<AnyMessage(std::vector<Tensor>)> message);

}  // namespace troupe
