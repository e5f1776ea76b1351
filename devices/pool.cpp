#include "devices/pool.h"

#include <sched.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "devices/flush_denormals.h"
#include "devices/spin_lock.h"

namespace troupe {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

constexpr auto spin_time = microseconds(20);
constexpr auto yield_interval = microseconds(2);
// A thread that gave way for longer than this found its core wanted by somebody else: for a while nobody
// spins.
constexpr auto crowded_gap = microseconds(50);
constexpr auto crowded_time = microseconds(2000);
// Waking a parked thread costs the waker about 12 us, and 40 us pass until the other one runs. So one is
// woken once it has missed this much work, with no longer pause in it than missed_window: it then stays
// awake, spinning, while work keeps coming.
constexpr auto worth_waking = microseconds(100);
constexpr auto missed_window = microseconds(200);

size_t usable_cores() {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof(cores), &cores) != 0) return 1;
  return static_cast<size_t>(CPU_COUNT(&cores));
}

// One call of chunks(), on the stack of its caller.
struct Job {
  // Helpers inside, plus `parked` once the caller sleeps until they have left. A helper that has left may
  // touch the job no more.
  static constexpr uint32_t parked = uint32_t{1} << 31;

  const FunctionRef<void(size_t)> chunk;
  const size_t n;
  Job* older = nullptr;
  std::exception_ptr failure{};             // written by whoever sets `failed`
  alignas(64) std::atomic<size_t> next{0};  // the first chunk nobody has claimed
  std::atomic<bool> failed{false};
  alignas(64) std::atomic<uint32_t> helpers{0};

  bool abandoned() const { return (helpers.load(std::memory_order_acquire) & ~parked) == 0; }
  size_t remaining() const {
    const size_t begun = next.load(std::memory_order_relaxed);
    return begun < n ? n - begun : 0;
  }
  bool run_one() noexcept {
    const size_t i = next.fetch_add(1, std::memory_order_relaxed);
    if (i >= n) return false;
    try {
      chunk(i);
    } catch (...) {
      if (!failed.exchange(true, std::memory_order_relaxed)) failure = std::current_exception();
      next.store(n, std::memory_order_relaxed);
    }
    return true;
  }
};

struct Task {
  std::function<void()> run;
  std::unique_ptr<Task> next;
};

// The pool for which this thread counts as computing already, so that nested calls of chunks() do not count
// twice.
thread_local const void* computing_for = nullptr;

}  // namespace

struct ThreadPool::State {
  explicit State(size_t count) : limit(count) {}

  void serve();
  void share(Job& job);
  void submit(std::function<void()> run);
  void end();

  const size_t limit;
  const size_t cores = usable_cores();
  std::vector<std::thread> threads;

 private:
  using Held = std::unique_lock<SpinLock>;

  std::unique_ptr<Task> take_task();
  Job* join_job();
  void unlink(const Job& job);
  void run(Task& task);
  void help(Job& job);
  void work(Job& job);
  bool missed_enough(Clock::time_point begin, Clock::duration work);
  void await_helpers(Job& job);
  bool may_spin() const;
  template <class Condition>
  bool spin(Condition until, bool yields);
  void park(Held& held);
  size_t choose_sleepers(size_t most);
  void wake(size_t chosen);
  void publish();

  SpinLock lock_;  // guards what follows up to `ending_`
  Job* jobs_ = nullptr;
  std::unique_ptr<Task> first_task_;
  Task* last_task_ = nullptr;
  size_t computing_ = 0;  // threads inside a task, inside chunks() or helping
  size_t spinning_ = 0;
  size_t sleeping_ = 0;
  bool ending_ = false;

  alignas(64) std::atomic<bool> claimable_{false};  // there may be work for an idle thread
  std::atomic<bool> wakeable_{false};               // a sleeper could help
  std::atomic<Clock::rep> crowded_until_{0};
  // What sleepers could have done, and when that ended; a race costs accuracy only.
  std::atomic<Clock::rep> missed_work_{0}, missed_until_{0};

  std::mutex park_mutex_;  // never taken while holding `lock_`
  std::condition_variable woken_, abandoned_;
  size_t wake_tokens_ = 0;
};

void ThreadPool::State::serve() {
  const FlushDenormals flush;
  Held held(lock_);
  for (bool spun = false;;) {
    if (auto task = take_task()) {
      const size_t chosen = first_task_ && spinning_ == 0 ? choose_sleepers(1) : 0;
      held.unlock();
      wake(chosen);
      run(*task);
      task.reset();
    } else if (Job* job = join_job()) {
      held.unlock();
      help(*job);
    } else if (ending_) {
      return;
    } else if (!spun && may_spin()) {
      ++spinning_;
      publish();
      held.unlock();
      spin([&] { return claimable_.load(std::memory_order_relaxed); }, true);
      held.lock();
      --spinning_;
      publish();
      spun = true;
      continue;
    } else {
      park(held);
      spun = false;
      continue;
    }
    held.lock();
    --computing_;
    publish();
    spun = false;
  }
}

// To be called after each change of what the lock guards.
void ThreadPool::State::publish() {
  claimable_.store(ending_ || first_task_ || (jobs_ && computing_ < limit), std::memory_order_relaxed);
  wakeable_.store(sleeping_ > 0 && spinning_ == 0 && computing_ < std::min(limit, cores),
                  std::memory_order_relaxed);
}

std::unique_ptr<Task> ThreadPool::State::take_task() {
  if (!first_task_) return nullptr;
  auto task = std::move(first_task_);
  first_task_ = std::move(task->next);
  ++computing_;
  publish();
  return task;
}

Job* ThreadPool::State::join_job() {
  if (computing_ >= limit) return nullptr;
  while (jobs_ && jobs_->remaining() == 0) jobs_ = jobs_->older;
  if (jobs_) {
    jobs_->helpers.fetch_add(1, std::memory_order_relaxed);
    ++computing_;
  }
  publish();
  return jobs_;
}

void ThreadPool::State::unlink(const Job& job) {
  for (Job** link = &jobs_; *link; link = &(*link)->older)
    if (*link == &job) {
      *link = job.older;
      return;
    }
}

void ThreadPool::State::run(Task& task) {
  computing_for = this;
  task.run();
  computing_for = nullptr;
}

void ThreadPool::State::help(Job& job) {
  computing_for = this;
  work(job);
  computing_for = nullptr;
  if (job.helpers.fetch_sub(1, std::memory_order_acq_rel) == (Job::parked | 1)) {
    { std::lock_guard parked(park_mutex_); }
    abandoned_.notify_all();
  }
}

// Claims chunks until none is left; the first one tells what a sleeper misses.
void ThreadPool::State::work(Job& job) {
  if (wakeable_.load(std::memory_order_relaxed) && job.remaining() > 1) {
    const auto begin = Clock::now();
    job.run_one();
    const auto one = Clock::now() - begin;
    if (missed_enough(begin, one * static_cast<Clock::rep>(job.remaining()))) {
      Held held(lock_);
      const size_t chosen = wakeable_.load(std::memory_order_relaxed) ? choose_sleepers(1) : 0;
      held.unlock();
      wake(chosen);
    }
  }
  while (job.run_one()) {
  }
}

bool ThreadPool::State::missed_enough(Clock::time_point begin, Clock::duration work) {
  const auto end = (Clock::now() + work).time_since_epoch().count();
  const auto last = missed_until_.exchange(end, std::memory_order_relaxed);
  const bool pause = begin.time_since_epoch().count() - last > Clock::duration(missed_window).count();
  const auto sum = work.count() + (pause ? 0 : missed_work_.load(std::memory_order_relaxed));
  const bool enough = sum > Clock::duration(worth_waking).count();
  missed_work_.store(enough ? 0 : sum, std::memory_order_relaxed);
  return enough;
}

void ThreadPool::State::share(Job& job) {
  const void* before = std::exchange(computing_for, this);
  const bool nested = before == this;
  {
    Held held(lock_);
    job.older = std::exchange(jobs_, &job);
    if (!nested) ++computing_;
    publish();
  }
  work(job);
  {
    Held held(lock_);
    unlink(job);
    if (!nested) --computing_;
    publish();
  }
  computing_for = before;
  if (!job.abandoned()) await_helpers(job);
}

void ThreadPool::State::await_helpers(Job& job) {
  if (spin([&] { return job.abandoned(); }, false)) return;
  if (job.helpers.fetch_or(Job::parked, std::memory_order_acq_rel) == 0) return;
  std::unique_lock parked(park_mutex_);
  abandoned_.wait(parked, [&] { return job.abandoned(); });
}

// One core at least is left to whoever hands out the work.
bool ThreadPool::State::may_spin() const {
  return spinning_ + std::max<size_t>(computing_, 1) < std::min(limit, cores) &&
         Clock::now().time_since_epoch().count() >= crowded_until_.load(std::memory_order_relaxed);
}

// True as soon as `until` holds; false after spin_time or, if it yields to other threads meanwhile, as soon as
// the core turns out to be wanted by one. Idle threads yield; a caller, who waits for one chunk at most, does
// not.
template <class Condition>
bool ThreadPool::State::spin(Condition until, bool yields) {
  const auto begin = Clock::now();
  auto last_yield = begin;
  for (;;) {
    for (int i = 0; i < 8; ++i) {
      if (until()) return true;
      cpu_relax();
    }
    const auto now = Clock::now();
    if (now - begin >= spin_time) return until();
    if (!yields || now - last_yield < yield_interval) continue;
    sched_yield();
    last_yield = Clock::now();
    if (last_yield - now > crowded_gap) {
      crowded_until_.store((last_yield + crowded_time).time_since_epoch().count(), std::memory_order_relaxed);
      return until();
    }
  }
}

void ThreadPool::State::park(Held& held) {
  ++sleeping_;
  publish();
  held.unlock();
  {
    std::unique_lock parked(park_mutex_);
    woken_.wait(parked, [&] { return wake_tokens_ > 0; });
    --wake_tokens_;
  }
  held.lock();
}

// Under the lock: takes up to `most` threads off the count of sleepers; the caller then owes them a wake().
size_t ThreadPool::State::choose_sleepers(size_t most) {
  const size_t chosen = std::min(most, sleeping_);
  sleeping_ -= chosen;
  publish();
  return chosen;
}

void ThreadPool::State::wake(size_t chosen) {
  if (chosen == 0) return;
  {
    std::lock_guard parked(park_mutex_);
    wake_tokens_ += chosen;
  }
  if (chosen == 1)
    woken_.notify_one();
  else
    woken_.notify_all();
}

void ThreadPool::State::submit(std::function<void()> run) {
  auto task = std::make_unique<Task>(Task{std::move(run), nullptr});
  Held held(lock_);
  Task* const last = task.get();
  (first_task_ ? last_task_->next : first_task_) = std::move(task);
  last_task_ = last;
  const size_t chosen = spinning_ == 0 ? choose_sleepers(1) : 0;
  publish();
  held.unlock();
  wake(chosen);
}

// What was submitted still runs.
void ThreadPool::State::end() {
  Held held(lock_);
  ending_ = true;
  const size_t chosen = choose_sleepers(sleeping_);
  held.unlock();
  wake(chosen);
  for (auto& thread : threads) thread.join();
}

ThreadPool::ThreadPool(std::unique_ptr<State> state) : state_(std::move(state)) {}
ThreadPool::~ThreadPool() { state_->end(); }

Result<std::unique_ptr<ThreadPool>> ThreadPool::make(size_t threads) {
  if (threads < 1 || threads > 1024)
    return invalid_argument("a pool of " + std::to_string(threads) + " threads; allowed are 1 to 1024");
  auto state = std::make_unique<State>(threads);
  try {
    for (size_t i = 0; i < threads; ++i) state->threads.emplace_back([&s = *state] { s.serve(); });
  } catch (const std::system_error& error) {
    state->end();
    return resource_exhausted("the system gives " + std::to_string(state->threads.size()) + " of " +
                              std::to_string(threads) + " threads: " + error.what());
  }
  return std::unique_ptr<ThreadPool>(new ThreadPool(std::move(state)));
}

size_t ThreadPool::threads() const { return state_->limit; }

void ThreadPool::submit(std::function<void()> task) { state_->submit(std::move(task)); }

void ThreadPool::share(size_t n, FunctionRef<void(size_t)> chunk) {
  Job job{chunk, n};
  if (state_->limit == 1)
    while (job.run_one()) {
    }
  else
    state_->share(job);
  if (job.failure) std::rethrow_exception(job.failure);
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
