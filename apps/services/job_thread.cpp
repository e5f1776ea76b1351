#include "apps/services/job_thread.h"

namespace troupe::services {

void JobThread::post(Job job, Reply reply) {
  {
    const std::lock_guard lock(mutex_);
    if (ending_) return;  // the reply answers with Unavailable
    jobs_.emplace_back(std::move(job), std::move(reply));
  }
  changed_->notify();
}

void JobThread::end(const std::function<void()>& interrupt) {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_->notify();
  interrupt();
  thread_.reset();
  std::deque<std::pair<Job, Reply>> left;
  const std::lock_guard lock(mutex_);
  left.swap(jobs_);
}

void JobThread::run() {
  for (;;) {
    changed_->wait([this] { return has_work(); }, 0);
    std::pair<Job, Reply> next;
    {
      const std::lock_guard lock(mutex_);
      if (ending_) return;
      next = std::move(jobs_.front());
      jobs_.pop_front();
      running_ = true;
    }
    Result<AnyMessage> answer = AnyMessage();
    try {
      answer = next.first();
    } catch (const Error& error) {
      answer = error.status();
    } catch (const std::exception& error) {
      answer = internal(error.what());
    }
    const std::lock_guard lock(mutex_);
    running_ = false;
    if (ending_ && !answer) return;  // the reply answers with Unavailable
    next.second(std::move(answer));
  }
}

}  // namespace troupe::services
