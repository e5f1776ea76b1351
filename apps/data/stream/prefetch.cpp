#include "apps/data/stream/prefetch.h"

namespace troupe::data {

Prefetch::Prefetch(std::unique_ptr<Batches> batches, size_t ahead)
    : Batches(*batches), batches_(std::move(batches)), ahead_(ahead),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

Result<Dataset> Prefetch::at(uint64_t step) {
  std::unique_lock lock(mutex_);
  if (!is_used_ || step != first_ready_) {
    ready_.clear();
    first_ready_ = step;
    is_used_ = true;
    changed_.notify_all();
  }
  changed_.wait(lock, [&] { return !ready_.empty(); });
  Result<Dataset> batch = std::move(ready_.front());
  ready_.pop_front();
  ++first_ready_;
  changed_.notify_all();
  return batch;
}

void Prefetch::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const auto has_work = [&] { return is_used_ && ready_.size() < ahead_; };
  while (changed_.wait(lock, stop, has_work) && !stop.stop_requested()) {
    const uint64_t first = first_ready_, step = first + ready_.size();
    lock.unlock();
    Result<Dataset> batch = batches_->at(step);
    lock.lock();
    // Batches may have been taken meanwhile, or a batch of another step asked for.
    if (first_ready_ + ready_.size() != step) continue;
    ready_.push_back(std::move(batch));
    changed_.notify_all();
  }
}

}  // namespace troupe::data
