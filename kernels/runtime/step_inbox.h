// StepInbox: receives what happens elsewhere during a step: replies, values, finished device work, cancellation. Any thread
// puts arrivals in; the driving thread takes them out, and parks the step if there are none. A short lock protects it. It is
// used again for the next step.
#pragma once

#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "devices/spin_lock.h"
#include "kernels/runtime/step_host.h"

namespace troupe {

struct KernelRun;

/// The result of a request, of a read of a variable, of work on the device, or of the copy of what a node sends to the host.
struct StepArrival {
  static constexpr uint32_t whole_node = UINT32_MAX, copy_to_host = UINT32_MAX - 1;
  Activation activation;
  uint32_t input = whole_node;  ///< for a read: the number of the input; or copy_to_host
  StepReply reply;              ///< for a read: one value
  KernelRun* run = nullptr;     ///< for work on the device: the run with its outputs
};

class StepInbox {
 public:
  /// Empties the inbox for a new step; the thread that starts the step drives it.
  void open() {
    arrivals_.clear();
    reason_ = {};
    parked_ = false;
    news_.store(false, std::memory_order_relaxed);
    cancelled_.store(false, std::memory_order_relaxed);
  }

  /// Add an arrival, or the reason for which the step must stop. Return true if the step was parked: the caller must then have
  /// it driven.
  bool put(StepArrival arrival) {
    const std::lock_guard guard(lock_);
    arrivals_.push_back(std::move(arrival));
    return announce();
  }
  bool cancel(Status reason) {
    cancelled_.store(true, std::memory_order_relaxed);
    const std::lock_guard guard(lock_);
    if (reason_.ok()) reason_ = std::move(reason);
    return announce();
  }
  /// Returns the flag that long kernels read.
  std::atomic<bool>& cancelled() { return cancelled_; }

  // Only the driving thread may call the functions below.

  /// Returns whether something has arrived. It is cheap enough to be called after every node.
  bool has_news() const { return news_.load(std::memory_order_relaxed); }
  /// Moves the arrivals to `taken`, which must be empty, and sets `reason` if the step must stop. Returns false if nothing has
  /// arrived; if `park` is set, the step is then parked, and another thread may drive it at once.
  bool take(std::vector<StepArrival>& taken, Status& reason, bool park) {
    const std::lock_guard guard(lock_);
    const bool any = has_news();
    news_.store(false, std::memory_order_relaxed);
    parked_ = park && !any;
    std::swap(taken, arrivals_);
    if (any) reason = std::exchange(reason_, {});
    return any;
  }

 private:
  bool announce() {
    news_.store(true, std::memory_order_relaxed);
    return std::exchange(parked_, false);
  }

  SpinLock lock_;
  std::vector<StepArrival> arrivals_;
  Status reason_;
  bool parked_ = false;
  std::atomic<bool> news_{false}, cancelled_{false};
};

}  // namespace troupe
