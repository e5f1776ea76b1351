#include "apps/python/forks.h"

#include <pthread.h>

#include <atomic>

namespace troupe::python {
namespace {

std::atomic<uint64_t> forks{0};

}  // namespace

uint64_t forks_so_far() {
  [[maybe_unused]] static const int registered =
      pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });
  return forks.load(std::memory_order_relaxed);
}

}  // namespace troupe::python
