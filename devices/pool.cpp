#include "devices/pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include <oneapi/tbb/concurrent_queue.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include "devices/flush_denormals.h"
#include "devices/held_place.h"

namespace troupe {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

// How much work the recent loops had for helpers, less the time that has passed since. Waking a helper takes its waker 12 us,
// and 40 us pass until the helper runs; it then searches for work for 120 us before it sleeps again. So a loop is shared when it
// and those before it have more work than `worth_sharing` for others. Any thread may use it; a race makes it less accurate only.
class RecentWork {
 public:
  bool enough(Clock::time_point now) const { return at(now) > worth_sharing; }
  void add(Clock::time_point begin, Clock::time_point end, Clock::duration work) {
    sum_.store(std::min<Clock::duration>(at(begin) + work, max_work).count(), std::memory_order_relaxed);
    end_.store(end.time_since_epoch().count(), std::memory_order_relaxed);
  }

 private:
  static constexpr auto worth_sharing = 100us, max_work = 200us;

  Clock::duration at(Clock::time_point now) const {
    const Clock::duration pause =
        now.time_since_epoch() - Clock::duration(end_.load(std::memory_order_relaxed));
    return std::max<Clock::duration>(Clock::duration(sum_.load(std::memory_order_relaxed)) - pause, 0ns);
  }

  std::atomic<Clock::rep> sum_{0}, end_{0};
};

// The counter of the pool that counts this thread as computing.
thread_local const void* counted_in = nullptr;

// While it lives, the calling thread counts as computing. A thread counts once, however deep
// its calls are nested. Even a nested object reads and writes the counter, so that what a
// caller wrote before is ordered before what a helper reads, also for the thread sanitizer.
class Counted {
 public:
  explicit Counted(std::atomic<size_t>& computing)
      : computing_(computing), outer_(std::exchange(counted_in, &computing)),
        added_(outer_ == &computing ? 0 : 1) {
    computing.fetch_add(added_);
  }
  ~Counted() {
    computing_.fetch_sub(added_);
    counted_in = outer_;
  }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

  bool nested() const { return added_ == 0; }

 private:
  std::atomic<size_t>& computing_;
  const void* const outer_;
  const size_t added_;
};

// One call of chunks(), on the stack of its caller. A thread claims a chunk by incrementing
// `next_`. This operation acquires and releases, so that the thread sanitizer, which does not
// see into libtbb, knows that a helper reads after its caller has written, and the reverse.
class ChunkLoop {
 public:
  ChunkLoop(size_t n, FunctionRef<void(size_t)> chunk) : n_(n), chunk_(chunk) {}

  /// Runs chunks until all are claimed. If a chunk throws, the unclaimed chunks are dropped.
  void run() {
    while (run_one()) {
    }
  }
  bool run_one() {
    const size_t i = next_.fetch_add(1, std::memory_order_acq_rel);
    if (i >= n_) return false;
    try {
      chunk_(i);
    } catch (...) {
      next_.fetch_add(n_, std::memory_order_acq_rel);
      throw;
    }
    return true;
  }
  /// Returns how many chunks are not claimed yet.
  size_t remaining() const { return n_ - std::min(n_, next_.load(std::memory_order_relaxed)); }

 private:
  const size_t n_;
  const FunctionRef<void(size_t)> chunk_;
  std::atomic<size_t> next_{0};
};

// When the last pool of the process ends, this ends the threads of oneTBB, unless the program uses oneTBB elsewhere.
class SchedulerHandle {
 public:
  SchedulerHandle() = default;
  ~SchedulerHandle() { tbb::finalize(handle_, std::nothrow); }
  SchedulerHandle(const SchedulerHandle&) = delete;
  SchedulerHandle& operator=(const SchedulerHandle&) = delete;

 private:
  tbb::task_scheduler_handle handle_{tbb::attach{}};
};

}  // namespace

struct ThreadPool::State final : PlaceLender {
  explicit State(size_t count);
  ~State() override;

  void serve();
  void submit(std::function<void()> task);
  bool try_submit(std::function<void()> task);
  void run(ChunkLoop& loop);
  void lend() override;
  void take_back() override;

  const size_t limit;
  const size_t sharers;              // how many threads may share a loop: at most one for each core
  std::vector<std::thread> threads;  // run submitted tasks, or are spare

 private:
  struct Share {
    State& pool;
    ChunkLoop& loop;
    void operator()(size_t) const;
  };

  bool pays(ChunkLoop& loop);
  void share(ChunkLoop& loop);
  bool become_spare();

  tbb::concurrent_bounded_queue<std::function<void()>>
      tasks_;                            // an empty function makes its thread a spare one
  std::atomic<uint32_t> unfinished_{0};  // how many tasks are waiting or running
  std::atomic<size_t> computing_{0};     // how many threads run tasks, run chunks() or help
  std::atomic<size_t> waiting_{0};       // how many threads wait while others run tasks in their places
  std::mutex mutex_;                     // guards the next members up to ending_, and `threads` once they run
  std::condition_variable needed_;       // told when spare threads are needed, or the pool ends
  size_t spare_ = 0, called_ = 0;        // threads that run no tasks, and how many of them are to do so again
  size_t missing_ = 0;                   // threads that the system did not provide
  bool ending_ = false;
  RecentWork recent_;
  SchedulerHandle scheduler_;
  // Has a place for each caller (fewer than `limit` enter it) and for each helper.
  tbb::task_arena helpers_;
};

ThreadPool::State::State(size_t count)
    : limit(count),
      sharers(
          std::min(count, tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism))),
      helpers_(static_cast<int>(count + sharers - 1), static_cast<unsigned>(count)) {}

// Waits for submitted tasks, and for the tasks that these submit.
ThreadPool::State::~State() {
  while (const uint32_t left = unfinished_.load()) unfinished_.wait(left);
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  needed_.notify_all();
  for (size_t i = 0; i < threads.size(); ++i) tasks_.push({});
  for (auto& thread : threads) thread.join();
}

void ThreadPool::State::serve() {
  const FlushDenormals flush;
  const HeldPlace place(*this);
  for (;;) {
    std::function<void()> task;
    tasks_.pop(task);
    if (!task) {
      if (become_spare()) continue;
      return;
    }
    {
      const Counted self(computing_);
      task();
    }
    task = nullptr;
    if (unfinished_.fetch_sub(1) == 1) unfinished_.notify_all();
  }
}

// Waits until the thread is needed again. Returns false if the pool ends.
bool ThreadPool::State::become_spare() {
  std::unique_lock lock(mutex_);
  ++spare_;
  needed_.wait(lock, [&] { return called_ > 0 || ending_; });
  if (ending_) return false;
  --called_;
  --spare_;
  return true;
}

// If the system provides no more threads, tasks behind the one that waits may have to wait for it.
void ThreadPool::State::lend() {
  waiting_.fetch_add(1);
  computing_.fetch_sub(1);
  const std::lock_guard lock(mutex_);
  if (spare_ > called_) {
    ++called_;
    needed_.notify_one();
    return;
  }
  try {
    threads.emplace_back([this] { serve(); });
  } catch (const std::system_error&) {
    ++missing_;
  }
}

// One of the threads ends its present task, and then becomes a spare one. It does not matter which.
void ThreadPool::State::take_back() {
  computing_.fetch_add(1);
  waiting_.fetch_sub(1);
  {
    const std::lock_guard lock(mutex_);
    if (missing_ > 0) {
      --missing_;
      return;
    }
  }
  tasks_.push({});
}

void ThreadPool::State::submit(std::function<void()> task) {
  unfinished_.fetch_add(1);
  tasks_.push(std::move(task));
}

// If several callers race, there may be one task more than free threads. That task waits.
bool ThreadPool::State::try_submit(std::function<void()> task) {
  const size_t caller = counted_in == &computing_ ? 0 : 1;
  if (unfinished_.load() >= limit + waiting_.load() || computing_.load() + caller >= limit) return false;
  submit(std::move(task));
  return true;
}

void ThreadPool::State::run(ChunkLoop& loop) {
  const Counted self(computing_);
  std::optional<bool> shares;
  do {  // other threads may become free at any chunk
    if (shares == false || computing_.load() >= sharers) continue;
    if (!shares) shares = pays(loop);
    if (*shares) share(loop);
  } while (loop.run_one());
}

// Returns whether sharing the loop pays. If the loops before it do not show that, its first chunk is run here and timed.
bool ThreadPool::State::pays(ChunkLoop& loop) {
  const auto begin = Clock::now();
  if (recent_.enough(begin)) return true;
  loop.run_one();
  const auto end = Clock::now();
  const auto rest = (end - begin) * static_cast<Clock::rep>(loop.remaining());
  recent_.add(begin, end + rest, rest);
  return recent_.enough(end + rest);
}

// The work of the caller and of each helper in a loop. A helper leaves if more than `sharers` threads compute; the caller stays.
void ThreadPool::State::Share::operator()(size_t) const {
  const Counted self(pool.computing_);
  if (self.nested()) return loop.run();
  while (pool.computing_.load() <= pool.sharers && loop.run_one()) {
  }
}

// The region is isolated, so that the caller runs nothing else while it
// waits for its helpers. Helpers get the caller's floating-point settings.
void ThreadPool::State::share(ChunkLoop& loop) {
  const auto begin = Clock::now();
  const size_t shares = std::min(loop.remaining(), sharers);
  tbb::task_group_context context(tbb::task_group_context::isolated, tbb::task_group_context::fp_settings);
  helpers_.execute([&] {
    tbb::this_task_arena::isolate([&] {
      tbb::parallel_for(size_t{0}, shares, Share{*this, loop}, tbb::simple_partitioner(), context);
    });
  });
  const auto end = Clock::now();
  recent_.add(begin, end, end - begin);
}

ThreadPool::ThreadPool(std::unique_ptr<State> state) : state_(std::move(state)) {}
ThreadPool::~ThreadPool() = default;

Result<std::unique_ptr<ThreadPool>> ThreadPool::make(size_t threads) {
  if (threads < 1 || threads > 1024)
    return invalid_argument("a pool cannot have " + std::to_string(threads) +
                            " threads; 1 to 1024 are allowed");
  auto state = std::make_unique<State>(threads);
  try {
    for (size_t i = 0; i < threads; ++i) state->threads.emplace_back([&s = *state] { s.serve(); });
  } catch (const std::system_error& error) {
    return resource_exhausted("the system provides " + std::to_string(state->threads.size()) + " of " +
                              std::to_string(threads) + " threads: " + error.what());
  }
  return std::unique_ptr<ThreadPool>(new ThreadPool(std::move(state)));
}

size_t ThreadPool::threads() const { return state_->limit; }

void ThreadPool::submit(std::function<void()> task) { state_->submit(std::move(task)); }

bool ThreadPool::try_submit(std::function<void()> task) { return state_->try_submit(std::move(task)); }

void ThreadPool::share(size_t n, FunctionRef<void(size_t)> chunk) {
  ChunkLoop loop(n, chunk);
  state_->run(loop);
}

size_t InlinePool::run_pending() {
  size_t ran = 0;
  while (!pending_.empty()) {
    auto tasks = std::exchange(pending_, {});
    for (auto& task : tasks) task();
    ran += tasks.size();
  }
  return ran;
}

}  // namespace troupe
