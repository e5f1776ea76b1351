// The interface between a running step and its host (the executor actor, or a test): requests for nodes that no kernel
// computes, and the replies. The StepHost belongs to the owner of the StepRunner and outlives the step.
#pragma once

#include <cstdint>

#include "kernels/core/state.h"
#include "kernels/runtime/step_request.h"

namespace troupe {

/// Why a step stops gathering messages: it parks; it runs a kernel, which may take long; or it runs a kernel on large inputs,
/// which surely takes long.
enum class FlushReason : uint8_t { Parking, Kernel, LongKernel };

/// The threads that drive a step call these functions, one call at a time; wake() may come from any thread.
class StepHost {
 public:
  virtual ~StepHost() = default;
  /// The host replies with exactly one call of StepRunner::arrived(), from any thread, at once or later.
  virtual void request(StepRequest request) = 0;
  /// Returns whether the receiver of a Send, a GPU of another task, can copy the tensor from the memory of this device.
  virtual bool lends_memory(Activation) { return false; }
  /// A node waits for the value of a cell that is being changed in place. The host replies with exactly one call of
  /// StepRunner::value_arrived().
  virtual void read(Activation activation, uint32_t input, StateCell& cell) = 0;
  /// The host sends the messages that it has gathered for others, before the step does what the reason says.
  virtual void flush(FlushReason) {}
  /// The step has failed: the host should reply to all pending requests soon, with any status. Called at most once.
  virtual void failing(const Status& status) = 0;
  /// Several nodes that take long are ready. Returns true if another thread is about to call StepRunner::help() once, false if
  /// no thread is available.
  virtual bool invite_helper() { return false; }
  /// Work on the device has ended and no thread drives the step: the host must have drive() called. May come from any thread.
  virtual void wake() = 0;
  /// The step has ended. This is its last call; the runner may be destroyed in it.
  virtual void ended(Status status) = 0;
};

}  // namespace troupe
