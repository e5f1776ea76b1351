#include "kernels/runtime/cancellation.h"

#include <map>
#include <mutex>
#include <utility>

#include "kernels/runtime/cancelled_by.h"

namespace troupe {

struct Cancellation::State {
  std::mutex mutex;
  bool cancelled = false;
  uint64_t last_number = 0;
  std::map<uint64_t, std::function<void()>> running;  ///< by number
};

Cancellation::Cancellation() : state_(std::make_unique<State>()) {}
Cancellation::~Cancellation() = default;

void Cancellation::cancel() {
  const std::lock_guard lock(state_->mutex);
  if (std::exchange(state_->cancelled, true)) return;
  for (const auto& [number, cancel] : state_->running) cancel();
}

bool Cancellation::cancelled() const {
  const std::lock_guard lock(state_->mutex);
  return state_->cancelled;
}

CancelledBy::CancelledBy(const Cancellation* cancellation, std::function<void()> cancel)
    : cancellation_(cancellation) {
  if (!cancellation_) return;
  Cancellation::State& state = *cancellation_->state_;
  const std::lock_guard lock(state.mutex);
  if (state.cancelled) {
    cancel();
    return;
  }
  number_ = ++state.last_number;
  state.running.emplace(number_, std::move(cancel));
}

CancelledBy::~CancelledBy() {
  if (number_ == 0) return;
  Cancellation::State& state = *cancellation_->state_;
  const std::lock_guard lock(state.mutex);
  state.running.erase(number_);
}

}  // namespace troupe
