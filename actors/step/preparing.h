// When a step must be prepared again: the rule of everything that runs prepared steps. Constants and a pure function; any thread.
#pragma once

#include "messages/values/status.h"

namespace troupe {

/// How often a step is prepared again, one time after another.
inline constexpr int most_preparations = 3;

/// Whether a step failed because the master has dropped its signature, or because a worker that has restarted does not know it. The
/// failure of an op names its node.
inline bool must_prepare_again(const Status& status) {
  return status.code() == Code::Aborted && status.node().empty();
}

}  // namespace troupe
