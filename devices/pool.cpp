#include "devices/pool.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>

namespace troupe {

struct ThreadPool::State {
  std::mutex mutex;
  std::condition_variable work;
  std::deque<std::function<void()>> tasks;
  std::vector<std::thread> threads;
  bool ending = false;

  void serve() {
    std::unique_lock lock(mutex);
    for (;;) {
      work.wait(lock, [&] { return ending || !tasks.empty(); });
      if (tasks.empty()) return;
      auto task = std::move(tasks.front());
      tasks.pop_front();
      lock.unlock();
      task();
      task = nullptr;
      lock.lock();
    }
  }

  void end() {
    {
      std::lock_guard lock(mutex);
      ending = true;
    }
    work.notify_all();
    for (auto& thread : threads) thread.join();
  }
};

ThreadPool::ThreadPool(std::unique_ptr<State> state) : state_(std::move(state)) {}
ThreadPool::~ThreadPool() { state_->end(); }

Result<std::unique_ptr<ThreadPool>> ThreadPool::make(size_t threads) {
  if (threads < 1 || threads > 1024)
    return invalid_argument("a pool of " + std::to_string(threads) + " threads; allowed are 1 to 1024");
  auto state = std::make_unique<State>();
  try {
    for (size_t i = 0; i < threads; ++i) state->threads.emplace_back([&s = *state] { s.serve(); });
  } catch (const std::system_error& error) {
    state->end();
    return resource_exhausted("the system gives " + std::to_string(state->threads.size()) + " of " +
                              std::to_string(threads) + " threads: " + error.what());
  }
  return std::unique_ptr<ThreadPool>(new ThreadPool(std::move(state)));
}

size_t ThreadPool::threads() const { return state_->threads.size(); }

void ThreadPool::submit(std::function<void()> task) {
  {
    std::lock_guard lock(state_->mutex);
    state_->tasks.push_back(std::move(task));
  }
  state_->work.notify_one();
}

void ThreadPool::share(size_t n, FunctionRef<void(size_t)> chunk) {
  for (size_t i = 0; i < n; ++i) chunk(i);
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
