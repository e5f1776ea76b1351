// The seeds of simulations. By default few enough for every run of the tests; TROUPE_SEEDS=100 runs 100 times as many, and
// TROUPE_SEED=17 that one alone.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <ranges>

namespace troupe::test {

inline std::optional<uint64_t> number_in_environment(const char* variable) {
  const char* const text = std::getenv(variable);
  return text ? std::optional(uint64_t{std::strtoull(text, nullptr, 10)}) : std::nullopt;
}

/// Returns the seeds from 1 on, `usual` of them unless the environment says otherwise.
inline auto seeds(uint64_t usual) {
  if (const auto one = number_in_environment("TROUPE_SEED")) return std::views::iota(*one, *one + 1);
  return std::views::iota(uint64_t{1}, 1 + usual * number_in_environment("TROUPE_SEEDS").value_or(1));
}

}  // namespace troupe::test
