// StepRequest and StepReply: what a running step asks of its host for a node without a kernel, and the answer. Plain values.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "graph/build/graph.h"
#include "graph/plan/activation.h"
#include "kernels/core/slot.h"

namespace troupe {

/// A node without a kernel that is ready and that the host carries out. `node` and `where` identify a token of Send and Recv; a
/// Send has `dead` set if its input is dead.
struct StepRequest {
  Activation activation;  ///< the reply names it
  const Node& node;
  Where where;
  bool dead = false;
  /// The inputs, with handles where the op expects references. The host may move from them; they are invalid after
  /// StepHost::request() returns.
  std::span<Slot> inputs;
  StateCell* cell = nullptr;  ///< the state that the node names itself, if it does
};

/// The result of a request.
struct StepReply {
  Status status;
  /// One value for each output of the node, in order. An output that is a reference has an invalid tensor: the reference input
  /// becomes that output; so has the handle of the state that the node names itself. May be empty if there are no values.
  std::vector<Tensor> outputs;
  bool dead = false;  ///< for Recv: the token is dead
  /// The state to which outputs without a tensor refer, if the op has made state for this step alone. The step keeps it to its end.
  std::shared_ptr<StateCell> cell = {};
};

}  // namespace troupe
