#include "messages/env/real_process.h"

#include <chrono>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <thread>

#include "messages/env/random_id.h"

namespace troupe {
namespace {

class RealSignal final : public Signal {
 public:
  void notify() override {
    // A thread that has just found nothing done is waiting when the mutex is free.
    { const std::lock_guard lock(mutex_); }
    changed_.notify_all();
  }
  bool wait(const std::function<bool()>& done, int64_t deadline) override {
    std::unique_lock lock(mutex_);
    if (deadline == 0) {
      changed_.wait(lock, done);
      return true;
    }
    return changed_.wait_until(
        lock, std::chrono::steady_clock::time_point(std::chrono::nanoseconds(deadline)), done);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
};

class RealThread final : public BlockingThread {
 public:
  explicit RealThread(std::function<void()> body) : thread_(std::move(body)) {}

 private:
  std::jthread thread_;
};

}  // namespace

std::unique_ptr<Signal> RealProcess::signal() { return std::make_unique<RealSignal>(); }

std::unique_ptr<BlockingThread> RealProcess::start_thread(std::function<void()> body) {
  return std::make_unique<RealThread>(std::move(body));
}

uint64_t RealProcess::processor_time() const {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<uint64_t>(used.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(used.tv_nsec);
}

uint64_t RealProcess::random_id() { return troupe::random_id(); }

}  // namespace troupe
