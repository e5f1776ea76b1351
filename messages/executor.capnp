# Executor: runs partitions on one device, and is where tensors from other devices arrive: its mailbox is the rendezvous.
@0x9544faca7c9e3092;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

using StepId = import "session.capnp".StepId;

struct TensorsArrived {
  # executor -> executor: what Send ops of one step have ready together. Not a request. Attachments: the tensors that are
  # neither dead nor only announced, in the order of `arrivals`. May come before the receiver has heard of the step: kept while its
  # ordinal is not below the floor, else counted and dropped. A slow receiver costs its sender a bounded number of bytes per step: see
  # `announced`. A second arrival of the same (step, edge, frame, iteration) ends the step, Internal. What is on its way when a peer is
  # lost is lost: the step ends Unavailable. Costs one message per step, receiver and flush.

  step @0 :StepId;
  arrivals @1 :List(Arrival);
}

struct Arrival {
  # One token, 32 bytes and its tensor.

  edge @0 :UInt64;        # hash of the name that partitioning gave it, unique among the edges of a signature
  dead @1 :Bool;
  frame @2 :UInt64;       # key of the frame's instance, equal in all partitions; 0 outside any loop
  iteration @3 :UInt64;
  announced @4 :Bool;     # no tensor yet, to be asked for with TakeTensor when its Recv runs: a variable, to be read as late as that; or a
                          # tensor beyond what the step may push to another process (messages/limits.h)
}

struct TakeTensor {
  # Request -> TensorTaken. executor -> executor: the value, now, of a variable that was announced, or the tensor that waited. Its
  # Send is done by this, so that a loop runs no more than its parallel iterations ahead of whoever wants its tensors.

  step @0 :StepId;
  edge @1 :UInt64;
  frame @2 :UInt64;
  iteration @3 :UInt64;
}

struct TensorTaken {
  # Or a failure: FailedPrecondition: the variable has no value. Attachment: the tensor.
}
