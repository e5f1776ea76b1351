// Refusal: tells permanent refusals between nodes from temporary ones. A pure function.
#pragma once

#include "messages/values/status.h"

namespace troupe {

/// Returns whether a node that was refused with this code will always be refused, because the other side does not accept its
/// version, cluster, certificate or kind of connection.
inline bool is_permanent(Code refusal) {
  return refusal == Code::FailedPrecondition || refusal == Code::PermissionDenied ||
         refusal == Code::InvalidArgument;
}

}  // namespace troupe
