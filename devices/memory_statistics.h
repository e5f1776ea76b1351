// MemoryStatistics: the memory use of an allocator, and so of a device. A plain value. Units: bytes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace troupe {

struct MemoryStatistics {
  size_t in_use = 0;         ///< held by buffers now
  size_t peak = 0;           ///< the maximum of in_use so far
  size_t reserved = 0;       ///< taken from the system
  size_t cap = 0;            ///< the limit of `reserved`
  uint64_t allocations = 0;  ///< the number of allocations so far
};

}  // namespace troupe
