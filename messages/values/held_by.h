// held_by: what an object that may be moved keeps behind a pointer. For the files that implement such objects; not installed. A
// function without state; any thread.
#pragma once

#include <string>

#include "messages/values/status.h"

namespace troupe {

/// Returns what the pointer holds. Throws FailedPrecondition, naming the object ("session"), if it is null because the object was
/// moved from.
template <class Pointer>
auto& held_by(const Pointer& pointer, const char* object) {
  if (!pointer)
    throw Error(failed_precondition("the " + std::string(object) + " has been moved to another object"));
  return *pointer;
}

}  // namespace troupe
