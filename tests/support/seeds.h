// The seeds of simulations. By default few enough for every run of the tests; TROUPE_SEEDS=100 runs 100 times as many, and
// TROUPE_SEED=17 that one alone.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <vector>

namespace troupe::test {

inline std::optional<uint64_t> number_in_environment(const char* variable) {
  const char* const text = std::getenv(variable);
  return text ? std::optional(uint64_t{std::strtoull(text, nullptr, 10)}) : std::nullopt;
}

/// Returns the seeds from 1 on, `usual` of them unless the environment says otherwise.
inline std::vector<uint64_t> seeds(uint64_t usual) {
  if (const auto one = number_in_environment("TROUPE_SEED")) return {*one};
  std::vector<uint64_t> all(usual * number_in_environment("TROUPE_SEEDS").value_or(1));
  std::iota(all.begin(), all.end(), uint64_t{1});
  return all;
}

}  // namespace troupe::test
