// The binary or text form of a message, whichever the bytes are, read within limits: bytes and fields are counted before anything
// is allocated for them. Functions without state.
#pragma once

#include <string_view>

#include "apps/interop/graph_limits.h"
#include "messages/values/status.h"

namespace google::protobuf {
class Message;
}

namespace troupe::interop {

/// InvalidArgument with line and column for text. On failure `message` holds what came before it.
Status parse(std::string_view bytes, const GraphLimits& limits, google::protobuf::Message& message);

/// "limit nodes, 100, is passed".
Status limit_passed(std::string_view name, uint64_t limit);

}  // namespace troupe::interop
