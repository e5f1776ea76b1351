// Peer messages: the messages that a link accepts from a peer, after checking them. All other messages are refused, among them
// those that actors send only within a node. The functions may be called from any thread.
#pragma once

#include "messages/wire/frame.h"

namespace troupe {

/// Returns the message of a frame, copied and completely checked. Fails with InvalidArgument if the message is malformed or must
/// not come from a peer, or has tensors in device memory, which only executors send each other.
Result<AnyMessage> receive_from_peer(Frame&& frame);

/// Returns whether a request of type `request` may be answered by a message of type `answer` (schema ids).
bool may_answer(uint64_t request, uint64_t answer);

}  // namespace troupe
