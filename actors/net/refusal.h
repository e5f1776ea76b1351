// Which refusals between nodes last. A pure function; any thread.
#pragma once

#include "messages/values/status.h"

namespace troupe {

/// Whether who was refused for this reason will be refused again, however often it tries: its version, its cluster, its certificate
/// or its kind of connection is not what the other side takes.
inline bool is_permanent(Code refusal) {
  return refusal == Code::FailedPrecondition || refusal == Code::PermissionDenied ||
         refusal == Code::InvalidArgument;
}

}  // namespace troupe
