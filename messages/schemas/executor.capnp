# Executor: runs partitions on one device, and is where tensors from other devices arrive: its mailbox is the rendezvous.
#
# A Recv may wait for long: its sender runs a kernel, or waits itself, for a queue or another sender. But it never waits for what
# nobody will send. When one has waited for ten heartbeats its executor asks that of the sender what became of the token:
#
#   executor of the Recv               executor of the Send               master
#     | FindTokens --------------------->|
#     |<------------- TokensFound        |   it may yet come: asked again after ten heartbeats, as long as that is the answer
#     |                                  |   the step has not begun there: the master is asked whether it runs at all
#     | ConfirmStep ------------------------------------------------------->|
#     |<----------------------------------------------- StepConfirmed, or not: then the step ends with that
#     |                                  |   it was sent, or the step is over there: asked once more, with the answer in bulk
#     | FindTokens, bulk --------------->|
#     |<------------- TokensFound        |   and if it still has not come, it never will: the step ends with DataLoss
#     |                                  |   there is no such edge: the step ends with DataLoss
#
# Who waits for a token waits for a step of which the same holds: at the end of each such chain there is a kernel, a queue, a round of
# gradients, a variable, or an error that names the token. Costs nothing while tokens come; a message and its answer per ten
# heartbeats, step and sender that is waited for, and only between processes.
@0x9544faca7c9e3092;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

using StepId = import "session.capnp".StepId;

struct StepExecuted {
  # step -> its executor, in its own process, once the last kernel of the step is done. Attachments: the fetches, in order.

  step @0 :StepId;
}

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
                          # tensor beyond what the step may push to another process (messages/wire/limits.h)
}

struct FindTokens {
  # Request -> TokensFound. executor -> executor.

  step @0 :StepId;
  tokens @1 :List(TokenName);
  bulk @2 :Bool;          # the answer travels in bulk, behind the tensors that did
}

struct TokenName {
  edge @0 :UInt64;
  frame @1 :UInt64;
  iteration @2 :UInt64;
}

struct TokensFound {
  # Attachment, when the answer was to travel in bulk: zeros, as many as that takes.

  tokens @0 :List(Whereabouts);  # in the order asked

  enum Whereabouts {
    pending @0;           # the step runs, and this token has not left yet
    sent @1;
    notBegun @2;          # nothing is known of the step here
    over @3;              # the step has ended here: it sends nothing any more
    noSuchEdge @4;
  }
}

struct LookAround {
  # clock -> executor, in its own process, every ten heartbeats while a step runs that gets tokens from other processes. Not a request.
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
