// MemoryBudget: limits the memory that all allocators of a runtime take from the system together. Memory
// that an allocator keeps for later counts as used, until some allocator needs more than is left; then all
// allocators return such memory. Shared by the allocators and their buffers. Any thread. Units: bytes.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "messages/values/status.h"

namespace troupe {

/// Returns the memory of this machine, or the limit of the process's cgroup or half of RLIMIT_AS if that is less.
uint64_t usable_memory();
/// Returns the default cap of a runtime: 80 % of usable_memory(),
/// divided equally among the `processes` of this machine that share it.
uint64_t default_memory_cap(uint64_t processes = 1);

class MemoryBudget {
 public:
  /// An allocator that keeps memory for later.
  class Member {
   public:
    /// Returns free memory to the system, and gives its bytes back to the budget.
    virtual void return_free_memory() = 0;

   protected:
    ~Member() = default;
  };

  explicit MemoryBudget(uint64_t cap) : cap_(cap) {}

  /// Takes `bytes` from the budget. Returns false, and takes nothing, if they would exceed the cap.
  bool take(uint64_t bytes);
  void give(uint64_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }
  uint64_t cap() const { return cap_; }
  uint64_t used() const { return used_.load(std::memory_order_relaxed); }

  /// Makes every member return its free memory. The caller must not hold a lock that return_free_memory() takes.
  void reclaim();
  void add(Member& member);
  void remove(Member& member);

 private:
  const uint64_t cap_;
  std::atomic<uint64_t> used_{0};
  std::mutex mutex_;  ///< guards members_
  std::vector<Member*> members_;
};

/// Returns the failure for an allocation of `bytes` that the budget refused.
Status past_memory_cap(uint64_t bytes, const MemoryBudget& budget);

}  // namespace troupe
