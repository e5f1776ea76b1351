// SpinLock: for critical sections of a few dozen instructions on hot paths, where a futex would cost a 50 us
// wake-up when it is contended. Gives way to other threads when it does not get the lock soon, so a preempted
// holder costs a time slice, no more.
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
