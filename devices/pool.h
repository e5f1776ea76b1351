// Pool: the threads on which a device computes. One per runtime, owned by it and handed to its devices; simulation injects its own.
// Work is cut by shape alone, never by the number of threads: each thread that takes part claims chunks, the caller included, so equal
// inputs give equal bits for any number of threads. Every function may be called from any thread, from inside a chunk too.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "devices/function_ref.h"
#include "messages/values/status.h"

namespace troupe {

class Pool {
 public:
  virtual ~Pool() = default;

  /// Calls chunk(0) .. chunk(n-1), each once, in any order on any thread, and returns when all have returned. Chunks of 10 to 200 us are
  /// best: other threads join only when a chunk's time shows that this pays. While the caller waits it runs nothing but these chunks.
  /// When a chunk throws, chunks not yet begun are dropped and the first exception is rethrown here.
  void chunks(size_t n, FunctionRef<void(size_t)> chunk) {
    if (n == 1) return chunk(0);
    if (n != 0) share(n, chunk);
  }

  /// Cuts [0, total) into blocks of `block` items (the last may be shorter) and calls range(begin, end) for
  /// each. `block` must be derived from shapes alone; 0 counts as 1.
  void blocks(size_t total, size_t block, FunctionRef<void(size_t, size_t)> range) {
    if (total == 0) return;
    block = std::max<size_t>(block, 1);
    if (total <= block) return range(0, total);
    chunks((total - 1) / block + 1, [&](size_t i) { range(i * block, std::min(total, (i + 1) * block)); });
  }

  /// Runs the task later on a thread of the pool; tasks start in the order they were given. A task must not
  /// throw.
  virtual void submit(std::function<void()> task) = 0;

  /// Runs the task now on a thread that has nothing to do, beside the caller, which computes too. False, and the task is dropped, when
  /// that would be more than threads() threads at work. A task must not throw.
  virtual bool try_submit(std::function<void()> task) = 0;

  /// How many threads compute at once, the caller of chunks() included. For information: never cut work by
  /// it.
  virtual size_t threads() const = 0;

 private:
  virtual void share(size_t n, FunctionRef<void(size_t)> chunk) = 0;  ///< chunks() with n >= 2
};

/// `threads` threads of its own run submitted tasks; callers of chunks() are helped by threads of oneTBB. A helper joins only while fewer
/// than `threads` threads compute for this pool, in tasks or in chunks(), and fewer than the machine has cores; when a task or another
/// caller comes, the helper leaves after its chunk. So a pool of one thread computes chunks on their caller alone. A helper has its
/// caller's floating-point settings. The destructor runs what was submitted before it, then ends the threads.
///
/// Measured with 2 threads on 2 cores, for which reason not all is left to oneTBB's scheduler:
/// - Tasks do not go through task_arena::enqueue, which keeps no order and wakes every thread of the arena for one task: 310 us of CPU
///   time for a task that finds the pool asleep, in place of 85 us, and 540 us with 4 threads.
/// - A loop is shared once it and the loops shortly before it have 100 us of work for others. Sharing each loop would make two chunks of
///   20 us after a pause take 53 us in place of 40, and cost 140 us of CPU time of a helper that searches for more.
/// - Sharing a loop takes 2.5 us when the helper is awake, most of it because oneTBB's threads look for work every 0.4 us.
class ThreadPool final : public Pool {
 public:
  /// `threads` in [1, 1024], else InvalidArgument. ResourceExhausted when the system gives fewer.
  static Result<std::unique_ptr<ThreadPool>> make(size_t threads);
  ~ThreadPool() override;

  void submit(std::function<void()> task) override;
  bool try_submit(std::function<void()> task) override;
  size_t threads() const override;

 private:
  struct State;
  explicit ThreadPool(std::unique_ptr<State> state);
  void share(size_t n, FunctionRef<void(size_t)> chunk) override;

  std::unique_ptr<State> state_;
};

/// No threads: chunks run on the caller in order, submitted tasks when run_pending() is called. For one
/// thread only.
class InlinePool final : public Pool {
 public:
  void submit(std::function<void()> task) override { pending_.push_back(std::move(task)); }
  bool try_submit(std::function<void()>) override { return false; }
  size_t threads() const override { return 1; }
  /// Runs what is pending, and what that submits in turn; returns how many tasks ran.
  size_t run_pending();

 private:
  void share(size_t n, FunctionRef<void(size_t)> chunk) override {
    for (size_t i = 0; i < n; ++i) chunk(i);
  }

  std::vector<std::function<void()>> pending_;
};

}  // namespace troupe
