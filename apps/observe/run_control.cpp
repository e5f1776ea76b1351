#include "apps/observe/run_control.h"

namespace troupe::observe {

Status RunControl::set_paused(bool paused) {
  const std::lock_guard lock(mutex_);
  if (!open_) return refusal();
  paused_ = paused;
  changed_.notify_all();
  return {};
}

void RunControl::stop() {
  stop_();
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
}

void RunControl::save(Saved saved) {
  {
    const std::lock_guard lock(mutex_);
    if (open_) {
      saves_.push_back(std::move(saved));
      changed_.notify_all();
      return;
    }
  }
  saved(refusal());
}

void RunControl::open() {
  const std::lock_guard lock(mutex_);
  open_ = true;
}

void RunControl::close() {
  std::vector<Saved> saves;
  {
    const std::lock_guard lock(mutex_);
    open_ = paused_ = false;
    saves.swap(saves_);
  }
  for (const Saved& saved : saves) saved(refusal());
}

bool RunControl::paused() const {
  const std::lock_guard lock(mutex_);
  return paused_;
}

std::vector<RunControl::Saved> RunControl::take_saves() {
  const std::lock_guard lock(mutex_);
  return std::exchange(saves_, {});
}

void RunControl::await(std::chrono::nanoseconds timeout) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, timeout, [this] { return !paused_ || !saves_.empty(); });
}

}  // namespace troupe::observe
