// Completion: a one-shot event that work started earlier has finished, well or badly.
// Default constructed it is already complete, and that costs nothing: host tensors carry such a one. Shared
// by reference; every function may be called from any thread. Callbacks run on the completing thread, or at
// once when already complete.
#pragma once

#include <functional>
#include <memory>

#include "messages/values/status.h"

#pragma GCC visibility push(default)
namespace troupe {

class Completion {
 public:
  Completion() = default;
  explicit Completion(Status status);  ///< already complete with this status
  static Completion pending();

  bool ready() const { return !state_ || has_ended(); }
  /// Ok while pending; the final status once ready.
  Status status() const;
  /// Calls `done` exactly once, when complete. Callbacks run in the order they were given.
  void then(std::function<void(Status)> done) const;
  /// Completes a pending one; the first call wins, later ones are ignored.
  void complete(Status status) const;

 private:
  struct State;
  bool has_ended() const;

  std::shared_ptr<State> state_;
};

}  // namespace troupe
#pragma GCC visibility pop
