// The failure of a step that reads a variable without a value. A pure function; any thread.
#pragma once

#include <string>

#include "messages/values/status.h"

namespace troupe {

/// `name` is that of the variable's state.
inline Status uninitialized(const std::string& name) {
  return failed_precondition(
      "the variable '" + name +
      "' is not initialised; run the initializer of the graph, or restore a checkpoint, "
      "before the step");
}

}  // namespace troupe
