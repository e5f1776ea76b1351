# Accumulator: sums gradients until somebody takes their mean or sum. It counts steps: a gradient that was computed in an earlier
# step is dropped, which its sender does not notice. All that arrived since the last take are in the result. Requests come from
# executors. Gradients are added in the order in which they arrive; a take that must wait for more of them is a pending request and
# holds no thread. When the accumulator's process is lost, its gradients are lost.
#
#   executors                          accumulator
#     | ApplyGradient ------------------->| adds the gradient, or drops it
#     |<-------------------- GradientApplied
#     | TakeGradient -------------------->| waits for the required number
#     |<---------------------- GradientTaken, the sum is empty and the step is one more
#
@0xb3f6c1a52e0d9487;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

using StepId = import "session.capnp".StepId;

struct ApplyGradient {
  # Request, answered by GradientApplied. Attachments: the gradient; if the accumulator is sparse, the numbers of its rows, its
  # rows, and the shape of the whole tensor, or no shape.

  localStep @0 :Int64;       # the step of the accumulator in which the gradient was computed
}

struct GradientApplied {
  # Fails with InvalidArgument if the gradient does not fit the accumulator or the gradients that are in it.

  dropped @0 :Bool;          # the gradient was computed in an earlier step
}

struct TakeGradient {
  # Request, answered by GradientTaken when `required` gradients are in the sum. Takes wait in one line.

  step @0 :StepId;
  required @1 :Int32;
}

struct GradientTaken {
  # Fails with Cancelled if the step ended, and with InvalidArgument if `required` is not positive. Attachments: the mean, or the
  # sum, of all gradients; if the accumulator is sparse, the numbers of the rows in ascending order, the rows, each the mean of
  # those gradients that have it, and the shape of the whole tensor.
}

struct SetGlobalStep {
  # Request, answered by GlobalStepSet. Gradients that are in the sum stay.

  globalStep @0 :Int64;
}

struct GlobalStepSet {
}

struct GradientAdded {
  # Not a request. Sent by the compute pool to an accumulator in its own process: a gradient that is too large for a handler has
  # been added.
}

struct GetAccumulated {
  # Request, answered by Accumulated.
}

struct Accumulated {
  count @0 :UInt64;          # gradients in the sum
}
