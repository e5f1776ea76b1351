# Executor: runs the steps of one partition on one device and receives tensors from the executors of other devices: its mailbox is
# the rendezvous.
#
# A Recv may wait for a long time, because its sender runs a kernel, or itself waits for a queue or for another sender. But no Recv
# waits for a token that will never be sent. When a Recv has waited for ten heartbeats, its executor asks the executor of the Send
# about the token:
#
#   executor of the Recv               executor of the Send               master
#     | FindTokens --------------------->|
#     |<------------- TokensFound        |   pending: the token may still come; the question is repeated after ten heartbeats
#     |                                  |   notBegun: the step has not begun there; the executor asks the master about the step
#     | ConfirmStep ------------------------------------------------------->|
#     |<----------------------------------------------- StepConfirmed, or a failure, with which the step ends
#     |                                  |   sent, or over: the executor asks once more and wants the answer in bulk
#     | FindTokens, bulk --------------->|
#     |<------------- TokensFound        |   if the token still has not come, it never will: the step ends with DataLoss
#     |                                  |   noSuchEdge: the step ends with DataLoss
#
# In a partial run the master takes the place of the executor of the Send for feeds, and of the Recv for fetches: it sends and gets
# TensorsArrived, asks for announced fetches with TakeTensor, and answers FindTokens; a feed that the client has not given yet is
# pending. If all workers have answered and a fetch is missing, the master asks for it in bulk.
#
# The sender's step may itself wait for a token, and the same holds for it. So every chain of waiting steps ends at a kernel, a
# queue, a training round, a variable, or an error that names the token. Nothing of this costs anything while tokens arrive in time.
# Otherwise it costs one question and one answer per ten heartbeats, step and sender, and only between processes.
@0x9544faca7c9e3092;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

using Status = import "status.capnp".Status;
using StepId = import "session.capnp".StepId;

struct StepExecuted {
  # Sent by a running step to its executor, in its own process, when the last kernel of the step is done. Attachments: the fetches,
  # in order.

  step @0 :StepId;
}

struct TensorsArrived {
  # Not a request. Sent by an executor to another one: tokens of one step that are ready together. Attachments: the tensors of the
  # tokens that are neither dead nor announced, in the order of `arrivals`. The message may arrive before the receiver knows the
  # step. Then the receiver keeps it if the step's ordinal is not below the floor; otherwise it counts and drops the message. A slow
  # receiver costs its sender a bounded number of bytes per step: see `announced`. A second arrival of the same (step, edge, frame,
  # iteration) ends the step with Internal. If a peer is lost, the tokens under way are lost, and the step ends with Unavailable.
  # Costs one message per step, receiver and flush.

  step @0 :StepId;
  arrivals @1 :List(Arrival);
  shortage @2 :Status;
  # Set by the process that receives the message if it has no memory for all tensors; then none is attached, and the tokens that
  # have tensors carry this failure.
}

struct Arrival {
  # One token: 32 bytes and its tensor.

  edge @0 :UInt64;        # hash of the name that partitioning gave the edge; unique among the edges of a signature
  dead @1 :Bool;
  frame @2 :UInt64;       # key of the frame's instance, equal in all partitions; 0 outside any loop
  iteration @3 :UInt64;
  announced @4 :Bool;
  # The tensor is not attached: the receiver asks for it with TakeTensor when its Recv runs. A sender announces a variable, whose
  # value is to be read as late as that, and a tensor that exceeds what the step may send to another process unasked
  # (messages/wire/limits.h).
}

struct FindTokens {
  # Request, answered by TokensFound. Sent by an executor to another one.

  step @0 :StepId;
  tokens @1 :List(TokenName);
  bulk @2 :Bool;          # the answer is to travel on the bulk connection, behind the tensors sent there
}

struct TokenName {
  edge @0 :UInt64;
  frame @1 :UInt64;
  iteration @2 :UInt64;
}

struct TokensFound {
  # Attachment, if the answer is to travel in bulk: a tensor of zeros, large enough for that.

  tokens @0 :List(TokenState);  # one per token of the request, in order

  enum TokenState {
    pending @0;           # the step runs, and the token has not been sent yet
    sent @1;
    notBegun @2;          # the step is not known here
    over @3;              # the step has ended here and sends nothing more
    noSuchEdge @4;
  }
}

struct CheckOverdueTokens {
  # Not a request. Sent by the clock to an executor in its own process every ten heartbeats while a step runs that receives tokens
  # from other processes. The executor then asks the senders of overdue tokens about them.
}

struct TakeTensor {
  # Request, answered by TensorTaken. Sent by an executor to another one: asks for the present value of a variable that was
  # announced, or for the tensor that was announced. The Send is done only now, so that a loop runs at most parallel_iterations
  # ahead of its receiver.

  step @0 :StepId;
  edge @1 :UInt64;
  frame @2 :UInt64;
  iteration @3 :UInt64;
}

struct TensorTaken {
  # Fails with FailedPrecondition if the variable has no value. Attachment: the tensor.
}
