// StepInbox: where a running step is told what happens elsewhere. Any thread puts in; the driving thread
// takes out, and parks the step when there is nothing. Held up by a short lock at most. Used again for the
// next step.
#pragma once

#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "devices/spin_lock.h"
#include "kernels/runtime/step_host.h"

namespace troupe {

struct KernelRun;

/// What came of a request, of a read, or of work on the device.
struct StepArrival {
  static constexpr uint32_t whole_node = UINT32_MAX;
  Activation activation;
  uint32_t input = whole_node;  ///< of a read: which input
  StepReply reply;              ///< of a read: one value
  KernelRun* run = nullptr;     ///< of work on the device: where its outputs are
};

class StepInbox {
 public:
  /// Empties it for a new step, whose starter drives it.
  void open() {
    arrivals_.clear();
    reason_ = {};
    parked_ = false;
    news_.store(false, std::memory_order_relaxed);
    cancelled_.store(false, std::memory_order_relaxed);
  }

  /// True: the step was parked, and the caller sees that it is driven.
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
  /// For kernels that look.
  std::atomic<bool>& cancelled() { return cancelled_; }

  // The driving thread alone.

  /// There is something new: cheap enough to ask after every node.
  bool news() const { return news_.load(std::memory_order_relaxed); }
  /// Exchanges what came for `taken`, which is empty, and sets `reason` when the step is to stop. False when
  /// there is nothing; the step is then parked if `park` says so, and another thread may drive it at once.
  bool take(std::vector<StepArrival>& taken, Status& reason, bool park) {
    const std::lock_guard guard(lock_);
    const bool any = news();
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
