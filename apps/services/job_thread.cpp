#include "apps/services/job_thread.h"

namespace troupe::services {

void JobThread::post(Job job, Reply reply) {
  const std::lock_guard lock(mutex_);
  jobs_.emplace_back(std::move(job), std::move(reply));
  changed_.notify_one();
}

void JobThread::end() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
  jobs_.clear();
}

void JobThread::run() {
  for (;;) {
    std::unique_lock lock(mutex_);
    running_ = false;
    changed_.wait(lock, [this] { return ending_ || !jobs_.empty(); });
    if (ending_) return;
    auto [job, reply] = std::move(jobs_.front());
    jobs_.pop_front();
    running_ = true;
    lock.unlock();
    try {
      reply(job());
    } catch (const Error& error) {
      reply(error.status());
    } catch (const std::exception& error) {
      reply(internal(error.what()));
    }
  }
}

}  // namespace troupe::services
