// Cancellation: cancels steps (StepOptions::cancellation) and calls of models (Model::run) from other threads than those that wait
// for them. Owned by the caller. Public header: it uses only std. Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#pragma GCC visibility push(default)
namespace troupe {

class Cancellation {
 public:
  Cancellation();
  ~Cancellation();
  Cancellation(const Cancellation&) = delete;
  Cancellation& operator=(const Cancellation&) = delete;

  /// Makes every step, and every call of a model, that was given this object, those that run and those that begin later, fail with
  /// Cancelled. One that is about to end may still succeed.
  void cancel();
  bool cancelled() const;

 private:
  friend class CancelledBy;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace troupe
#pragma GCC visibility pop
