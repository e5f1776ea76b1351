// UnlockedPhase: a span of time in which the steps of a session change the values of variables without locks
// (StepOptions::unlocked_phase). A plain value.
#pragma once

#include <cstdint>

namespace troupe {

struct UnlockedPhase {
  uint64_t session = 0;
  uint64_t number = 0;  ///< 0: no phase

  explicit operator bool() const { return number != 0; }
  friend bool operator==(const UnlockedPhase&, const UnlockedPhase&) = default;
};

}  // namespace troupe
