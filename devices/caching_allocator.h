// CachingAllocator: host memory for the buffers of a device, out of an arena of its own. Any thread may
// allocate, and release what another one allocated. Buffers may outlive the allocator: the arena lives until
// the last of them is released, its free memory having gone back to the system when the allocator ended.
// Units: bytes.
//
//   up to 4 KiB    blocks of 64-byte classes, header and data in one; cached per thread (about 8 ns for
//   allocate and release) above          best fit with coalescing; the header lies apart, so a power of two
//   takes no more than itself
//
// What it takes from the system a budget pays for, where it has one. When that refuses, the free memory of all who share the budget
// goes back to the system, and it is asked once more.
#pragma once

#include <cstddef>
#include <memory>

#include "devices/arena.h"
#include "devices/memory_budget.h"
#include "devices/memory_statistics.h"
#include "messages/values/buffer.h"
#include "messages/values/memory_claims.h"

namespace troupe {

class CachingAllocator final : public Allocator, public MemoryClaims {
 public:
  explicit CachingAllocator(Arena::Options options, std::shared_ptr<MemoryBudget> budget = nullptr);
  ~CachingAllocator() override;
  CachingAllocator(const CachingAllocator&) = delete;
  CachingAllocator& operator=(const CachingAllocator&) = delete;

  /// ResourceExhausted names the size asked for, the cap, and what is in use.
  Result<BufferRef> allocate(size_t bytes) override;
  /// Out of the budget; without one whatever is asked for.
  Result<BufferRef> claim(size_t bytes) override;
  /// Sizes count headers and rounding. `peak` counts what threads held in their caches, too: at most 1 MiB
  /// each.
  MemoryStatistics statistics() const;
  /// The memfd of the arena, where Buffer::offset points into; -1 when it is not shared or nothing was
  /// allocated yet.
  int descriptor() const;

 private:
  struct Core;
  struct Block;
  struct ThreadCache;
  static ThreadCache& this_thread();

  Core* core_;
};

}  // namespace troupe
