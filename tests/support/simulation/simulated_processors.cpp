#include "tests/support/simulation/simulated_processors.h"

#include <algorithm>

namespace troupe::test {

SimulatedProcessors::Host& SimulatedProcessors::host(uint32_t number) {
  if (number >= hosts_.size()) {
    hosts_.resize(number + 1);
    cores_.resize(costs_.together ? costs_.cores : (number + 1) * costs_.cores);
  }
  return hosts_[number];
}

int64_t& SimulatedProcessors::first_free_core(uint32_t host) {
  const auto first = cores_.begin() + static_cast<std::ptrdiff_t>(costs_.together ? 0 : host * costs_.cores);
  return *std::min_element(first, first + static_cast<std::ptrdiff_t>(costs_.cores));
}

bool SimulatedProcessors::can_begin(uint32_t number, Thread thread, int64_t now) {
  const Host& self = host(number);
  if (self.control_until > now) return false;
  return thread == Thread::Control || (self.compute_until <= now && first_free_core(number) <= now);
}

int64_t SimulatedProcessors::occupy(uint32_t number, Thread thread, int64_t now, int64_t nanoseconds) {
  Host& self = host(number);
  int64_t& core = first_free_core(number);
  core = std::max(core, now) + nanoseconds;
  (thread == Thread::Control ? self.control_until : self.compute_until) = now + nanoseconds;
  return core;
}

int64_t SimulatedProcessors::pass(uint32_t number, bool outward, int64_t time, size_t bytes) {
  Host& self = host(number);
  int64_t& until = outward ? self.sent_until : self.received_until;
  return until = std::max(until, time) + static_cast<int64_t>(costs_.wire * static_cast<double>(bytes));
}

}  // namespace troupe::test
