// A hash of text that is equal in every process, unlike std::hash. A pure function; any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace troupe {

/// Returns the FNV-1a hash of the text.
constexpr uint64_t text_hash(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace troupe
