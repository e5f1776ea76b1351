# Replicas: gathers the gradients of all logical shards for one group of variables and commits their mean, round by round.
# Synchronous mode: round r + 1 is the mean, weighted by samples and summed in shard order, of one push per shard, applied once.
# A push is keyed (round, worker, shard), and a group named by the variable that counts its rounds. The round applied last is
# part of the state and saved with it: a repeated push is answered and never applied twice. What was pushed and not committed
# when the process is lost is pushed again.
#
#   executors (one push per shard)   replicas                      the variables (of the same device)
#     | PushGradient ----------------->| keeps it                       |
#     | PushGradient ----------------->| all are here: their mean       |
#     |                                | Update ------------------------->| the rule, once
#     |                                | Assign the round --------------->|
#     |<-------------------- Committed | to each                        |
#
@0xde274ebc19f47986;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

using StepId = import "session.capnp".StepId;

struct PushGradient {
  # Request -> Committed, when the round has been applied. executor -> replicas, one per shard and group. Attachments: the value
  # inputs of the rule in order, this shard's gradient among them; of the others those of shard 0 count. Costs the bytes of the
  # gradient, once. A second push of one (round, shard) replaces nothing and gets the same answer.

  step @0 :StepId;
  round @1 :UInt64;           # that it helps to make, counted from 1; the gradient was computed after the one before
  worker @2 :UInt32;          # who pushes, for people
  shard @3 :UInt32;           # below `shards`
  shards @4 :UInt32;          # all pushes of a round agree on it, and on what follows but for samples and the rule's number
  samples @5 :Int64;          # in the shard's part of the batch: its weight
  roundCell @6 :UInt32;       # the variable that counts the rounds: int64, a scalar
  cells @7 :List(UInt32);     # the ref inputs of the rule, in order
  rule @8 :UInt64;            # numbered by the device when the partition was registered
  gradient @9 :Int32 = -1;    # which attachment; none: the rule has no gradient and is applied once per round all the same
}

struct Committed {
  # Or a failure: Aborted: the push belongs to a round that is neither the next nor an applied one; Cancelled: by its step;
  # FailedPrecondition: the counter has no value; InvalidArgument: it does not go with the others, or what the rule says:
  # then nothing was applied.

  round @0 :UInt64;           # the one applied last. Higher than the pushed one: that had been applied before
}

struct CancelPushes {
  # executor -> replicas when a step ends before its time. Not a request: the pushes themselves are answered Cancelled, and their
  # gradients taken back unless the same shard was pushed by another step too. No effect on a round that is being committed.

  step @0 :StepId;
}

struct MeanComputed {
  # pool -> replicas, in its own process: a mean too large for a handler. Not a request. Attachment: the mean.

  roundCell @0 :UInt32;
}
