// The processor time of this process. Free function; any thread.
#pragma once

#include <ctime>

#include <cstdint>

namespace troupe::services {

/// Returns the nanoseconds for which the threads of this process have used processors, in sum.
inline uint64_t processor_time() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<uint64_t>(used.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(used.tv_nsec);
}

}  // namespace troupe::services
