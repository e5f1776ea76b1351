// A random number that names a process, a link or a session for ever. Any thread.
#pragma once

#include <cstdint>
#include <random>

namespace troupe {

/// Returns a number that is not 0.
inline uint64_t random_id() {
  std::random_device random;
  return (uint64_t{random()} << 32) | random() | 1;
}

}  // namespace troupe
