#include "devices/memory_budget.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "devices/cgroup.h"

namespace troupe {

uint64_t usable_memory() {
  auto bytes = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  rlimit addresses{};
  if (getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_cur != RLIM_INFINITY)
    bytes = std::min<uint64_t>(bytes, addresses.rlim_cur / 2);
  return std::min(bytes, cgroup_memory_limit().value_or(bytes));
}

uint64_t default_memory_cap(uint64_t processes) {
  return usable_memory() / 10 * 8 / std::max<uint64_t>(processes, 1);
}

bool MemoryBudget::take(uint64_t bytes) {
  uint64_t used = used_.load(std::memory_order_relaxed);
  do {
    if (bytes > cap_ || used > cap_ - bytes) return false;
  } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  return true;
}

void MemoryBudget::reclaim() {
  const std::lock_guard lock(mutex_);
  for (Member* const member : members_) member->return_free_memory();
}

void MemoryBudget::add(Member& member) {
  const std::lock_guard lock(mutex_);
  members_.push_back(&member);
}

void MemoryBudget::remove(Member& member) {
  const std::lock_guard lock(mutex_);
  std::erase(members_, &member);
}

Status past_memory_cap(uint64_t bytes, const MemoryBudget& budget) {
  return resource_exhausted("an allocation of " + std::to_string(bytes) + " bytes: the memory cap is " +
                            std::to_string(budget.cap()) + " bytes (RuntimeOptions::memory, --memory), " +
                            std::to_string(budget.used()) + " bytes are in use");
}

}  // namespace troupe
