// CancelledBy: while it lives, a Cancellation calls a function when it is cancelled. For the files that implement Session and
// Model; not installed. One thread.
#pragma once

#include "kernels/runtime/cancellation.h"

namespace troupe {

class CancelledBy {
 public:
  /// Calls `cancel` at once if `cancellation` has been cancelled already. It is called with a lock held, at most once, and on any
  /// thread. Does nothing if `cancellation` is null.
  CancelledBy(const Cancellation* cancellation, std::function<void()> cancel);
  ~CancelledBy();
  CancelledBy(const CancelledBy&) = delete;
  CancelledBy& operator=(const CancelledBy&) = delete;

 private:
  const Cancellation* const cancellation_;
  uint64_t number_ = 0;
};

}  // namespace troupe
