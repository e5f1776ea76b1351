#include "apps/data/stream/prefetch.h"

#include <algorithm>

namespace troupe::data {

Prefetch::Prefetch(std::unique_ptr<Batches> batches, const PrefetchOptions& options, MapBatch map)
    : Batches(*batches), batches_(std::move(batches)), map_(std::move(map)), ahead_(options.ahead) {
  for (size_t i = 0; i < options.threads; ++i)
    threads_.emplace_back([this](const std::stop_token& stop) { run(stop); });
}

Prefetch::~Prefetch() {
  for (std::jthread& thread : threads_) thread.request_stop();
}

Result<Dataset> Prefetch::at(uint64_t step) {
  std::unique_lock lock(mutex_);
  if (!is_used_ || step != first_) {
    slots_.clear();  // a thread that makes one of them holds its slot
    first_ = step;
    is_used_ = true;
    changed_.notify_all();
  }
  changed_.wait(lock, [&] { return !slots_.empty() && slots_.front()->has_value(); });
  Result<Dataset> batch = *std::move(*slots_.front());
  slots_.pop_front();
  ++first_;
  changed_.notify_all();
  return batch;
}

std::optional<BatchQueue> Prefetch::queue() {
  const std::lock_guard lock(mutex_);
  const auto ready = std::ranges::count_if(slots_, [](const auto& slot) { return slot->has_value(); });
  return BatchQueue{static_cast<size_t>(ready), ahead_};
}

void Prefetch::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const auto has_work = [&] { return is_used_ && !is_reading_ && slots_.size() < ahead_; };
  while (changed_.wait(lock, stop, has_work) && !stop.stop_requested()) make_next(lock);
}

void Prefetch::make_next(std::unique_lock<std::mutex>& lock) {
  const uint64_t step = first_ + slots_.size();
  const std::shared_ptr<Slot> slot = slots_.emplace_back(std::make_shared<Slot>());
  is_reading_ = true;
  lock.unlock();
  Result<Dataset> batch = batches_->at(step);
  lock.lock();
  is_reading_ = false;
  changed_.notify_all();
  const bool is_wanted = slot.use_count() > 1;
  if (map_ && batch && is_wanted) {
    lock.unlock();
    batch = map_(step, *std::move(batch));
    lock.lock();
  }
  slot->emplace(std::move(batch));
  changed_.notify_all();
}

}  // namespace troupe::data
