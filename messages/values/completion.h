// Completion: a one-shot event. It says that some work has ended, and with which status.
// A default constructed Completion is already complete and costs nothing; tensors computed on the host carry one. Copies refer to
// the same event. Every function may be called from any thread.
#pragma once

#include <functional>
#include <memory>

#include "messages/values/status.h"

#pragma GCC visibility push(default)
namespace troupe {

class Completion {
 public:
  Completion() = default;
  /// Makes an event that is already complete, with this status.
  explicit Completion(Status status);
  /// Makes an event that is complete after complete() was called.
  static Completion pending();

  bool ready() const { return !state_ || has_ended(); }
  /// Returns the final status, or Ok while the event is pending.
  Status status() const;
  /// Calls `done` exactly once: now if the event is complete, else later on the thread that completes it. Callbacks run in the
  /// order in which they were given.
  void then(std::function<void(Status)> done) const;
  /// Completes a pending event. Later calls are ignored.
  void complete(Status status) const;

 private:
  struct State;
  bool has_ended() const;

  std::shared_ptr<State> state_;
};

}  // namespace troupe
#pragma GCC visibility pop
