// What a running step and its host (the executor actor, or a test) say to each other: requests for what no
// kernel does, replies. StepHost belongs to whoever owns the StepRunner and outlives the step.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/plan/step_state.h"
#include "kernels/core/slot.h"
#include "kernels/core/state.h"

namespace troupe {

/// A node whose op no kernel serves, ready to be carried out by the host. `node` and `where` identify a token
/// of Send and Recv; a Send runs with `dead` set when its input is.
struct StepRequest {
  Activation activation;  ///< to be named in the reply
  const Node& node;
  Where where;
  bool dead = false;
  std::span<Slot>
      inputs;  ///< to be moved from; gone when request() returns. Handles where the op expects references
};

/// What a request came to.
struct StepReply {
  Status status;
  /// One value per output of the node, in order; an invalid tensor for an output that is a reference: the
  /// handle that came in goes on. May be empty when there are no values.
  std::vector<Tensor> outputs;
  bool dead = false;  ///< Recv: the token is dead
};

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
