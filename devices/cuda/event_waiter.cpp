#include "devices/cuda/event_waiter.h"

#include <chrono>

#include "devices/cuda/cuda_status.h"

namespace troupe {

EventWaiter::~EventWaiter() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
  for (const cudaEvent_t event : idle_) (void)cudaEventDestroy(event);
}

void EventWaiter::after(cudaStream_t stream, std::function<void(Status)> done) {
  cudaError_t error = cudaSuccess;
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    cudaEvent_t event = nullptr;
    if (!idle_.empty()) {
      event = idle_.back();
      idle_.pop_back();
    } else {
      error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventBlockingSync);
    }
    if (error == cudaSuccess) error = cudaEventRecord(event, stream);
    if (error == cudaSuccess) waiting_.push_back({event, std::move(done)});
    wake = std::exchange(sleeping_, false);
  }
  if (error != cudaSuccess) return done(cuda_status(error, "waiting for a GPU"));
  if (wake) changed_.notify_one();
}

void EventWaiter::poll() {
  std::unique_lock lock(mutex_);
  while (!waiting_.empty()) {
    const cudaError_t state = cudaEventQuery(waiting_.front().event);
    if (state == cudaErrorNotReady) return;
    finish_front(lock, state);
  }
}

void EventWaiter::finish_front(std::unique_lock<std::mutex>& lock, cudaError_t error) {
  Waiting first = std::move(waiting_.front());
  waiting_.pop_front();
  ++finished_;
  idle_.push_back(first.event);
  lock.unlock();
  first.done(cuda_status(error, "work on a GPU"));
  first.done = nullptr;
  lock.lock();
}

/// Looks again and again at first, because most copies end soon, and then sleeps until the event. Returns cudaErrorNotReady if
/// another thread has finished it.
cudaError_t EventWaiter::await_front(std::unique_lock<std::mutex>& lock) {
  using Clock = std::chrono::steady_clock;
  constexpr auto patience = std::chrono::microseconds(100);
  const uint64_t number = finished_;
  const cudaEvent_t event = waiting_.front().event;
  for (const auto begin = Clock::now(); Clock::now() - begin < patience;) {
    if (const cudaError_t state = cudaEventQuery(event); state != cudaErrorNotReady) return state;
    lock.unlock();
    std::this_thread::yield();
    lock.lock();
    if (finished_ != number) return cudaErrorNotReady;
  }
  lock.unlock();
  const cudaError_t state = cudaEventSynchronize(event);
  lock.lock();
  return finished_ == number ? state : cudaErrorNotReady;
}

void EventWaiter::serve() {
  (void)cudaSetDevice(index_);
  std::unique_lock lock(mutex_);
  while (true) {
    if (waiting_.empty()) {
      if (ending_) return;
      // A thread that polls may have taken what this thread was woken for, so it may go to sleep again here.
      changed_.wait(lock, [&] {
        sleeping_ = !ending_ && waiting_.empty();
        return !sleeping_;
      });
      continue;
    }
    if (const cudaError_t state = await_front(lock); state != cudaErrorNotReady) finish_front(lock, state);
  }
}

}  // namespace troupe
