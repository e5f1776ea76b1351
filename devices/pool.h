// Pool: the threads on which devices compute. A runtime owns one and gives it to its devices; simulations use one of their own.
// Work is cut by shape, never by the number of threads, and each participating thread, the caller included, claims chunks; so
// equal inputs give equal bits for any number of threads. Any thread may call every function, also from inside a chunk.
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

  /// Calls chunk(0) to chunk(n-1), each once, in any order and on any thread. Returns when all calls have returned. Chunks of 10
  /// to 200 us are best: other threads join only if the time of a chunk shows that this pays. The caller runs nothing but these
  /// chunks while it waits. If a chunk throws, chunks that have not begun are dropped, and the first exception is rethrown here.
  void chunks(size_t n, FunctionRef<void(size_t)> chunk) {
    if (n == 1) return chunk(0);
    if (n != 0) share(n, chunk);
  }

  /// Cuts [0, total) into blocks of `block` items, of which the last may have fewer, and calls range(begin,
  /// end) for each. `block` must depend on shapes only, not on the number of threads; 0 counts as 1.
  void blocks(size_t total, size_t block, FunctionRef<void(size_t, size_t)> range) {
    if (total == 0) return;
    block = std::max<size_t>(block, 1);
    if (total <= block) return range(0, total);
    chunks((total - 1) / block + 1, [&](size_t i) { range(i * block, std::min(total, (i + 1) * block)); });
  }

  /// Runs the task later on a thread of the pool. Tasks start in the order in which they were given. A task must not throw.
  virtual void submit(std::function<void()> task) = 0;

  /// Runs the task now on an idle thread, while the caller goes on computing. Drops the task and
  /// returns false if more than threads() threads would then be at work. A task must not throw.
  virtual bool try_submit(std::function<void()> task) = 0;

  /// Returns how many threads compute at once, including the caller of chunks(). For information: work must not be cut by it.
  virtual size_t threads() const = 0;

 private:
  virtual void share(size_t n, FunctionRef<void(size_t)> chunk) = 0;  ///< does chunks() for n >= 2
};

/// Runs submitted tasks on `threads` threads of its own. Callers of chunks() are helped by threads of oneTBB. A helper joins only
/// while fewer than `threads` threads compute for this pool, in tasks or in chunks(), and fewer than the machine has cores. When a
/// task or another caller comes, the helper leaves after its chunk. So a pool of one thread computes chunks on their caller alone.
/// A helper has the floating-point settings of its caller. The destructor waits for submitted tasks to end, then ends the threads.
///
/// oneTBB's scheduler does not do all of the work, for reasons that were measured with 2 threads on 2 cores:
/// - task_arena::enqueue, which keeps no order, wakes every thread of the arena for one task. A task that finds the pool asleep
///   would take 310 us of CPU time instead of 85 us, and 540 us with 4 threads.
/// - A loop is shared only when it and the loops shortly before it have 100 us of work for others. If every loop were shared, two
///   chunks of 20 us after a pause would take 53 us instead of 40 us, and a helper would search for more work for 140 us
///   of CPU time.
/// - Sharing a loop takes 2.5 us if the helper is awake, mostly because oneTBB's threads look for work every 0.4 us.
class ThreadPool final : public Pool {
 public:
  /// Fails with InvalidArgument unless `threads` is in [1, 1024], and with ResourceExhausted if the system provides fewer.
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

/// A pool without threads, for use by one thread: chunks run on the caller in order, submitted tasks when run_pending() is called.
class InlinePool final : public Pool {
 public:
  void submit(std::function<void()> task) override { pending_.push_back(std::move(task)); }
  bool try_submit(std::function<void()>) override { return false; }
  size_t threads() const override { return 1; }
  /// Runs the pending tasks, and the tasks that these submit. Returns how many tasks ran.
  size_t run_pending();

 private:
  void share(size_t n, FunctionRef<void(size_t)> chunk) override {
    for (size_t i = 0; i < n; ++i) chunk(i);
  }

  std::vector<std::function<void()>> pending_;
};

}  // namespace troupe
