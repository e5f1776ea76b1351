// FunctionStep: a running call of a function: a step of the function's plan inside the step that calls it, on the same device. It
// shares the identity, seeds, cancellation and deadline of the step around it; its first failure is that of the whole step. No call
// runs on the stack of its caller, so the depth of calls is bounded by memory and by `max_call_depth` only.
#pragma once

#include "actors/step/executor/call_queue.h"
#include "actors/step/executor/served_step.h"

namespace troupe {

/// How many calls may be nested.
inline constexpr size_t max_call_depth = 10'000;
/// How many calls of a step may exist at the same time on a device.
inline constexpr size_t max_calls = 1'000'000;

class FunctionStep final : public ServedStep {
 public:
  /// Makes the step for a call that a node of `caller` requests. Moves the values out of `request.inputs`. Fails with
  /// ResourceExhausted if the calls are nested too deeply, or if memory or a limit is exhausted.
  static Result<std::shared_ptr<FunctionStep>> make(ServedStep& caller, const StepRequest& request,
                                                    const ExecutorShared::Request& how);

  /// Begins the step when called first, and drives it. The queue calls it, on one thread at a time.
  void drive();
  void cancel(Status reason) override;
  void drive_soon() override;

 private:
  FunctionStep(ServedStep& caller, const StepRequest& request, const ExecutorShared::Request& how,
               BufferRef claim);

  void failing(const Status& status) override;
  void ended(Status status) override;

  std::shared_ptr<ServedStep> caller_;  ///< until the step ends
  const Activation activation_;         ///< the node that calls
  std::vector<Slot> arguments_;         ///< until the step begins
  const BufferRef claim_;               ///< counts the memory of the call
  const CallQueue::Ticket ticket_;
};

}  // namespace troupe
