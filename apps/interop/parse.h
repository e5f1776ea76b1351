// Parses a message from its binary or text form, whichever the bytes are, within limits: bytes and fields are counted before memory
// is allocated for them. Functions without state; any thread.
#pragma once

#include <string_view>

#include "apps/interop/graph_limits.h"
#include "messages/values/status.h"

namespace google::protobuf {
class Message;
}

namespace troupe::interop {

/// Parses `message`. Fails with InvalidArgument if the bytes are malformed, with line and column for text; with ResourceExhausted
/// if a limit is exceeded. After a failure `message` holds the fields that precede the error.
Status parse(std::string_view bytes, const GraphLimits& limits, google::protobuf::Message& message);

/// Returns ResourceExhausted with the text "limit nodes = 100 is exceeded".
Status limit_exceeded(std::string_view name, uint64_t limit);

}  // namespace troupe::interop
