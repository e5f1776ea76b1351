#include "devices/cuda/event_waiter.h"

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
  {
    const std::lock_guard lock(mutex_);
    cudaEvent_t event = nullptr;
    if (!idle_.empty()) {
      event = idle_.back();
      idle_.pop_back();
    } else {
      error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    }
    if (error == cudaSuccess) error = cudaEventRecord(event, stream);
    if (error == cudaSuccess) waiting_.push_back({event, std::move(done)});
  }
  if (error != cudaSuccess) return done(cuda_status(error, "waiting for a GPU"));
  changed_.notify_one();
}

// cudaEventSynchronize() spins: the copies that are waited for take some microseconds.
void EventWaiter::serve() {
  (void)cudaSetDevice(index_);
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return ending_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    Waiting first = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    const cudaError_t error = cudaEventSynchronize(first.event);
    first.done(cuda_status(error, "work on a GPU"));
    first.done = nullptr;
    lock.lock();
    idle_.push_back(first.event);
  }
}

}  // namespace troupe
