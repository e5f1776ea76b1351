# Device: the actor in front of a device's pool. It runs steps, and shares them out over the pool's threads; an executor speaks
# to it. Both always lie in one process.
@0x9a9ce61b4cd5e4ce;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

using StepId = import "session.capnp".StepId;

struct ExecuteStep {
  # Request -> StepExecuted. executor -> device: one message for a whole step, never one per op. What the step waits for
  # (tensors, replies) goes to its inbox directly, without the device.

  step @0 :StepId;
  partition @1 :UInt64;
}

struct StepExecuted {
  # Sent when the last kernel of the step is done and nothing of it runs on the device. Attachments: the fetches, in order.

  step @0 :StepId;
}
