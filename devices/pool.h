// Pool: the threads on which a device computes. One per runtime, owned by it and handed to its devices;
// simulation injects its own. Work is cut by shape alone, never by the number of threads: whoever is awake
// claims chunks, the caller included, so equal inputs give equal bits however many help. Every function may
// be called from any thread, from inside a chunk too.
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

  /// Calls chunk(0) .. chunk(n-1), each once, in any order on any thread, and returns when all have returned.
  /// Chunks of 10 to 200 us are best: a helper that sleeps is woken only once a chunk has shown that it pays,
  /// so two chunks of 1 ms may run one after the other. When a chunk throws, chunks not yet begun are dropped
  /// and the first exception is rethrown here.
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

  /// How many threads compute at once, the caller of chunks() included. For information: never cut work by
  /// it.
  virtual size_t threads() const = 0;

 private:
  virtual void share(size_t n, FunctionRef<void(size_t)> chunk) = 0;  ///< chunks() with n >= 2
};

/// Threads of its own: `threads` of them run submitted tasks, and threads - 1 at most help callers of
/// chunks(), so that a pool of one computes on the caller alone and still runs what is submitted. A thread
/// without work spins for 20 us while cores are free, then parks. The destructor runs what was submitted
/// before it, then joins.
class ThreadPool final : public Pool {
 public:
  /// `threads` in [1, 1024], else InvalidArgument. ResourceExhausted when the system gives fewer.
  static Result<std::unique_ptr<ThreadPool>> make(size_t threads);
  ~ThreadPool() override;

  void submit(std::function<void()> task) override;
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
