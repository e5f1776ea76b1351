// The seeds of simulations. By default few enough for every run of the tests; TROUPE_SEEDS=100 runs 100 times as many.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <ranges>

namespace troupe::test {

/// Returns the seeds from 1 on, `usual` of them unless the environment asks for more.
inline auto seeds(uint64_t usual) {
  const char* const times = std::getenv("TROUPE_SEEDS");
  return std::views::iota(uint64_t{1}, 1 + usual * (times ? std::strtoull(times, nullptr, 10) : 1));
}

}  // namespace troupe::test
