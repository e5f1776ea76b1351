// CancelledBy: while it lives, the Cancellation of a step calls a function when it is cancelled. For the files that implement
// Session; not installed. One thread.
#pragma once

#include "actors/step/cancellation.h"

namespace troupe {

class CancelledBy {
 public:
  /// Calls `cancel` at once if the step has been cancelled already. It is called with a lock held, at most once, and on any thread.
  /// Does nothing if `cancellation` is null.
  CancelledBy(const Cancellation* cancellation, std::function<void()> cancel);
  ~CancelledBy();
  CancelledBy(const CancelledBy&) = delete;
  CancelledBy& operator=(const CancelledBy&) = delete;

 private:
  const Cancellation* const cancellation_;
  uint64_t number_ = 0;
};

}  // namespace troupe
