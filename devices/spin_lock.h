// SpinLock: a lock for critical sections of a few dozen instructions on hot paths, where a contended futex would cost a wake-up of
// 50 us. A waiting thread soon yields to other threads, so if the holder is preempted the waiter loses no more than a time slice.
#pragma once

#include <atomic>
#include <thread>

namespace troupe {

/// Tells the processor that this thread waits in a loop.
inline void cpu_relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

class SpinLock {
 public:
  void lock() {
    if (!held_.exchange(true, std::memory_order_acquire)) return;
    wait_and_lock();
  }
  void unlock() { held_.store(false, std::memory_order_release); }

 private:
  void wait_and_lock() {
    for (int tries = 0;; ++tries) {
      if (!held_.load(std::memory_order_relaxed) && !held_.exchange(true, std::memory_order_acquire)) return;
      if (tries < 100)
        cpu_relax();
      else
        std::this_thread::yield();
    }
  }

  std::atomic<bool> held_{false};
};

}  // namespace troupe
