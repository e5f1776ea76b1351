// CachingAllocator: allocates the buffers of a device from an arena of host memory. Any thread may allocate,
// and release what another thread allocated. Buffers may outlive the allocator: the arena lives until the last
// of them is released, but its free memory is returned to the system when the allocator ends. Units: bytes.
//
//   up to 4 KiB: blocks in classes of 64 bytes, header and data together, cached per thread (about 8 ns to allocate and release)
//   above:       best fit with coalescing; the header is elsewhere, so a power of two takes no more than itself
//
// If there is a budget, memory taken from the system counts against it. When the budget refuses, all
// allocators that share it return their free memory to the system, and the allocator asks once more.
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

  /// Fails with ResourceExhausted, naming the size, the cap, and how much is in use.
  Result<BufferRef> allocate(size_t bytes) override;
  /// Counts the claim against the budget. Without a budget every claim succeeds.
  Result<BufferRef> claim(size_t bytes) override;
  /// Sizes include headers and rounding. `peak` includes what threads had in their caches, at most 1 MiB each.
  MemoryStatistics statistics() const;

 private:
  struct Core;
  struct Block;
  struct ThreadCache;
  static ThreadCache& this_thread();

  Core* core_;
};

}  // namespace troupe
