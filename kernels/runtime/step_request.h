// What a running step asks for that no kernel computes, and the answer. Plain values.
#pragma once

#include <span>
#include <vector>

#include "graph/build/graph.h"
#include "graph/plan/activation.h"
#include "kernels/core/slot.h"

namespace troupe {

/// A node whose op no kernel serves, ready to be carried out by the host. `node` and `where` identify a token
/// of Send and Recv; a Send runs with `dead` set when its input is.
struct StepRequest {
  Activation activation;  ///< to be named in the reply
  const Node& node;
  Where where;
  bool dead = false;
  /// To be moved from; gone when StepHost::request() returns. Handles where the op expects references.
  std::span<Slot> inputs;
};

/// What a request came to.
struct StepReply {
  Status status;
  /// One value per output of the node, in order; an invalid tensor for an output that is a reference: the
  /// handle that came in goes on. May be empty when there are no values.
  std::vector<Tensor> outputs;
  bool dead = false;  ///< Recv: the token is dead
};

}  // namespace troupe
