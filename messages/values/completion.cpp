#include "messages/values/completion.h"

#include <atomic>
#include <mutex>
#include <vector>

namespace troupe {

struct Completion::State {
  std::mutex mutex;
  std::atomic<bool> ready{false};
  Status status;
  std::vector<std::function<void(Status)>> waiting;
};

Completion::Completion(Status status) {
  if (status.ok()) return;
  state_ = std::make_shared<State>();
  state_->status = std::move(status);
  state_->ready.store(true, std::memory_order_release);
}

Completion Completion::pending() {
  Completion completion;
  completion.state_ = std::make_shared<State>();
  return completion;
}

bool Completion::has_ended() const { return state_->ready.load(std::memory_order_acquire); }

Status Completion::status() const { return state_ && ready() ? state_->status : Status{}; }

void Completion::then(std::function<void(Status)> done) const {
  if (state_) {
    std::lock_guard lock(state_->mutex);
    if (!state_->ready.load(std::memory_order_relaxed)) {
      state_->waiting.push_back(std::move(done));
      return;
    }
  }
  done(status());
}

void Completion::complete(Status status) const {
  if (!state_) return;
  std::vector<std::function<void(Status)>> waiting;
  {
    std::lock_guard lock(state_->mutex);
    if (state_->ready.load(std::memory_order_relaxed)) return;
    state_->status = std::move(status);
    waiting.swap(state_->waiting);
    state_->ready.store(true, std::memory_order_release);
  }
  for (auto& done : waiting) done(state_->status);
}

}  // namespace troupe
