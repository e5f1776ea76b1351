// failure_of: the status of the Error that a call threw, for tests of functions that throw.
#pragma once

#include "messages/values/status.h"

namespace troupe::test {

/// Returns Ok if the call threw nothing.
template <class F>
Status failure_of(F function) {
  try {
    function();
  } catch (const Error& error) {
    return error.status();
  }
  return {};
}

}  // namespace troupe::test
