#include "actors/step/coordinator.h"

#include <algorithm>
#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "messages/env/env.h"
#include "messages/values/status.h"

namespace troupe {
namespace {

using SteadyClock = std::chrono::steady_clock;

/// Returns the failure, or null if it is the end of the input.
std::exception_ptr without_ends(std::exception_ptr failure) {
  if (!failure) return nullptr;
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    return error.status().code() == Code::OutOfRange ? nullptr : failure;
  } catch (...) {
    return failure;
  }
}

}  // namespace

struct Coordinator::State {
  struct Thread {
    std::string name;
    bool repeats;  ///< it ends only when a stop is requested
    bool ended = false;
    std::jthread thread = {};
  };

  /// Returns whether all threads have ended that join() waits for before a stop.
  bool worked() const {
    return std::ranges::all_of(threads, [](const Thread& thread) { return thread.ended || thread.repeats; });
  }
  bool ended() const {
    return std::ranges::all_of(threads, [](const Thread& thread) { return thread.ended; });
  }
  /// Returns the names of the threads that run: "'reader', 'trainer'".
  std::string running() const {
    std::string names;
    for (const Thread& thread : threads)
      if (!thread.ended) names += (names.empty() ? "'" : ", '") + thread.name + "'";
    return names;
  }

  /// Waits for a thread, and forgets it. Returns false if there is none.
  bool join_one() {
    std::list<Thread> one;
    {
      const std::lock_guard lock(mutex);
      if (threads.empty()) return false;
      one.splice(one.begin(), threads, threads.begin());
    }
    one.front().thread.join();
    return true;
  }

  std::mutex mutex;
  std::condition_variable changed;  ///< a stop was requested, or a thread has ended
  Cancellation cancellation;
  bool stopped = false;
  std::exception_ptr failure;
  std::vector<std::function<void()>> at_stop;
  std::list<Thread> threads;  ///< a list, because each thread refers to its own element
};

namespace {

/// Calls the functions, and returns the first failure of one of them.
std::exception_ptr call_all(const std::vector<std::function<void()>>& functions) {
  std::exception_ptr failure;
  for (const auto& function : functions) {
    try {
      function();
    } catch (...) {
      if (!failure) failure = without_ends(std::current_exception());
    }
  }
  return failure;
}

}  // namespace

Coordinator::Coordinator() : state_(std::make_unique<State>()) {}

Coordinator::~Coordinator() {
  request_stop();
  std::vector<std::function<void()>> functions;
  {
    const std::lock_guard lock(state_->mutex);
    functions.swap(state_->at_stop);
  }
  call_all(functions);
  while (state_->join_one()) continue;
}

void Coordinator::add(std::string name, bool repeats, std::function<void()> body) {
  const std::lock_guard lock(state_->mutex);
  State::Thread& added = state_->threads.emplace_back(State::Thread{std::move(name), repeats});
  try {
    added.thread = std::jthread([this, &added, body = std::move(body)] {
      run(body);
      const std::lock_guard ending(state_->mutex);
      added.ended = true;
      state_->changed.notify_all();
    });
  } catch (...) {
    state_->threads.pop_back();  // the system has no thread left
    throw;
  }
}

void Coordinator::start(std::string name, std::function<void()> body) {
  add(std::move(name), false, std::move(body));
}

void Coordinator::start_every(std::string name, std::chrono::nanoseconds period, std::function<void()> body) {
  if (period.count() <= 0)
    throw Error(invalid_argument("the period of thread '" + name + "' is " + std::to_string(period.count()) +
                                 " ns, but must be positive"));
  add(std::move(name), true, [this, period = bounded_wait(period), body = std::move(body)] {
    SteadyClock::time_point next = SteadyClock::now();
    while (!wait_for_stop(next - SteadyClock::now())) {
      next = std::max(next, SteadyClock::now() - period) + period;
      body();
    }
  });
}

void Coordinator::run(const std::function<void()>& body) {
  try {
    body();
  } catch (...) {
    request_stop(std::current_exception());
  }
}

void Coordinator::at_stop(std::function<void()> function) {
  const std::lock_guard lock(state_->mutex);
  state_->at_stop.push_back(std::move(function));
}

void Coordinator::request_stop(std::exception_ptr failure) {
  failure = without_ends(std::move(failure));
  {
    const std::lock_guard lock(state_->mutex);
    if (std::exchange(state_->stopped, true)) return;
    state_->failure = std::move(failure);
    state_->changed.notify_all();
  }
  state_->cancellation.cancel();
}

bool Coordinator::should_stop() const {
  const std::lock_guard lock(state_->mutex);
  return state_->stopped;
}

void Coordinator::wait_for_stop() const {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return state_->stopped; });
}

bool Coordinator::wait_for_stop(std::chrono::nanoseconds timeout) const {
  std::unique_lock lock(state_->mutex);
  return state_->changed.wait_until(lock, SteadyClock::now() + bounded_wait(timeout),
                                    [&] { return state_->stopped; });
}

const Cancellation& Coordinator::cancellation() const { return state_->cancellation; }

void Coordinator::join(std::chrono::nanoseconds grace) {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return state_->stopped || state_->worked(); });
  const SteadyClock::time_point deadline = SteadyClock::now() + bounded_wait(grace);
  const auto functions = std::exchange(state_->at_stop, {});
  lock.unlock();
  request_stop();
  std::exception_ptr failure = call_all(functions);
  lock.lock();
  if (!state_->failure) state_->failure = std::move(failure);
  const bool ended = state_->changed.wait_until(lock, deadline, [&] { return state_->ended(); });
  if (state_->failure) std::rethrow_exception(state_->failure);
  if (!ended)
    throw Error(deadline_exceeded("threads still run after " +
                                  std::to_string(grace / std::chrono::milliseconds(1)) +
                                  " ms since they were to stop: " + state_->running()));
}

}  // namespace troupe
