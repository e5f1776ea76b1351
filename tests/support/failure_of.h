// failure_of: what a call threw, for tests of calls that throw Error.
#pragma once

#include "messages/values/status.h"

namespace troupe::test {

/// Ok when it threw nothing.
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
