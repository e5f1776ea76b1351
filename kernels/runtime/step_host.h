// What a running step and its host (the executor actor, or a test) say to each other: requests for what no
// kernel does, replies. StepHost belongs to whoever owns the StepRunner and outlives the step.
#pragma once

#include <cstdint>

#include "kernels/core/state.h"
#include "kernels/runtime/step_request.h"

namespace troupe {

/// What keeps a step from gathering more: it parks, or runs a kernel that may take a while, or, its inputs being large, surely does.
enum class FlushReason : uint8_t { Parking, Kernel, LongKernel };

/// Called on a driving thread, one call at a time, except wake().
class StepHost {
 public:
  virtual ~StepHost() = default;
  /// Exactly one StepRunner::arrived() answers it, from any thread, at once or later.
  virtual void request(StepRequest request) = 0;
  /// A node waits for the value of a cell that is being changed in place: exactly one
  /// StepRunner::value_arrived() answers.
  virtual void read(Activation activation, uint32_t input, StateCell& cell) = 0;
  /// What was gathered for others leaves now, before what is said comes.
  virtual void flush(FlushReason) {}
  /// The step has failed: whatever was requested shall be answered soon, with any status. Called at most
  /// once.
  virtual void failing(const Status& status) = 0;
  /// Several nodes that take long are ready. True when another thread is about to call StepRunner::help(), once; false when none is to
  /// be had.
  virtual bool invite_helper() { return false; }
  /// Work on the device has finished and nobody drives the step: see that drive() is called. From any thread.
  virtual void wake() = 0;
  /// The last call of this step. The runner may be destroyed in it.
  virtual void ended(Status status) = 0;
};

}  // namespace troupe
