// MemoryStatistics: what an allocator, and so a device, tells about its memory. A plain value. Units: bytes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace troupe {

struct MemoryStatistics {
  size_t in_use = 0;         ///< held by buffers now
  size_t peak = 0;           ///< the most that was in use at once
  size_t reserved = 0;       ///< taken from the system
  size_t cap = 0;            ///< what `reserved` may grow to
  uint64_t allocations = 0;  ///< since the allocator was made
};

}  // namespace troupe
