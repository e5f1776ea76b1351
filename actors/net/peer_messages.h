// What one node may say to another: the messages that a link takes from a peer, checked. Everything else, the messages between
// the actors of one node among it, is refused. Any thread.
#pragma once

#include "messages/wire/frame.h"

namespace troupe {

/// The message of a frame, its words copied and checked whole. InvalidArgument for what is malformed or no message of a peer.
Result<AnyMessage> receive_from_peer(Frame&& frame);

/// Whether a request of this schema may be answered by a message of that one.
bool may_answer(uint64_t request, uint64_t answer);

}  // namespace troupe
