// MemoryBudget: the memory that the allocators of one runtime may take from the system together. An allocator pays for what it takes
// and is paid back for what it returns; what it keeps free for later counts as taken, until somebody else is short of it and every
// allocator returns such memory. Shared by the allocators, and by what they gave out. Any thread. Units: bytes.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "messages/values/status.h"

namespace troupe {

/// Of this machine, or as much as its cgroup (version 2 or 1) or RLIMIT_AS leaves this process, when that is less.
uint64_t usable_memory();
/// The cap of a runtime that is told none, when so many processes of this machine share: of usable_memory() 80 %, in equal parts.
uint64_t default_memory_cap(uint64_t processes = 1);

class MemoryBudget {
 public:
  /// Somebody who keeps memory that it does not need now.
  class Keeper {
   public:
    /// Gives free memory back to the system, and its bytes to the budget.
    virtual void give_back() = 0;

   protected:
    ~Keeper() = default;
  };

  explicit MemoryBudget(uint64_t cap) : cap_(cap) {}

  /// False past the cap: nothing was taken.
  bool take(uint64_t bytes);
  void give(uint64_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }
  uint64_t cap() const { return cap_; }
  uint64_t used() const { return used_.load(std::memory_order_relaxed); }

  /// Every keeper gives back what it can. Not under a lock that give_back() takes.
  void reclaim();
  void enter(Keeper& keeper);
  void leave(Keeper& keeper);

 private:
  const uint64_t cap_;
  std::atomic<uint64_t> used_{0};
  std::mutex mutex_;  ///< guards what follows
  std::vector<Keeper*> keepers_;
};

/// Why `bytes` are refused.
Status past_memory_cap(uint64_t bytes, const MemoryBudget& budget);

}  // namespace troupe
