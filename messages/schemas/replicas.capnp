# Replicas: gathers the gradients of all logical shards for one group of variables and applies their mean, round by round. In
# synchronous mode round r + 1 applies, once, the mean of one push per shard, weighted by samples and summed in shard order, or what
# a function of the user's, which is prepared with the rule, makes of these gradients. A push
# is identified by (round, worker, shard), and the group by the variable that counts its rounds. That counter, the round applied
# last, is part of the state and saved with it. So a repeated push is answered and never applied twice. Gradients that were pushed
# but not applied when the process is lost are pushed again.
#
# Pushes may belong to a training that has a coordinator (rounds.capnp). If it fixes rounds, it says which shards count in a
# round and when it is applied; otherwise all count, and the round is applied as soon as all of them have pushed.
#
#   executors (one push per shard)   replicas                      the variables (of the same device)
#     | PushGradient ----------------->| keeps the gradient             |
#     | PushGradient ----------------->| has all of them: their mean    |
#     |                                | Update ------------------------->| applies the rule, once
#     |                                | Assign the round --------------->|
#     |<-------------------- Committed | to each                        |
#
@0xde274ebc19f47986;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

using Status = import "status.capnp".Status;
using StepId = import "session.capnp".StepId;

struct PushGradient {
  # Request, answered by Committed when the round has been applied or, if `wait` is false, as soon as the gradient is kept. Sent by
  # an executor to the replicas role, once per shard and group. Attachments: the value inputs of the rule in order, the gradient of
  # this shard among them; the other inputs are taken from the push of the first shard that counts. Costs the bytes of the gradient,
  # once. A second push of the same (round, shard) replaces nothing and gets the same answer.

  step @0 :StepId;
  round @1 :UInt64;           # the round that this push contributes to, counted from 1
  worker @2 :UInt32;          # the worker that pushes; only for error messages
  # All pushes of a round agree on the fields below, except on `shard`, `samples` and `rule`.
  shard @3 :UInt32;           # less than `shards`
  shards @4 :UInt32;
  samples @5 :Int64;          # the samples in the shard's part of the batch: the weight of the gradient
  roundCell @6 :UInt32;       # the cell of the variable that counts the rounds: int64, a scalar
  cells @7 :List(UInt32);     # the cells of the ref inputs of the rule, in order
  rule @8 :UInt64;            # the number that the device gave the rule when the partition was registered
  gradient @9 :Int32 = -1;    # index of the gradient among the attachments; -1: the rule has none, and is applied once per round
  indices @10 :Int32 = -1;    # if not -1, the gradient is rows, and this is the index of their numbers among the attachments
  training @11 :UInt64;       # 0: no training with a coordinator
  wait @12 :Bool = true;      # only a push of a training need not wait, because its gradient is kept when its step has ended
  after @13 :List(UInt32);    # counters of other groups on this device: the rule is applied when they have reached the round
}

struct Committed {
  # Fails with Aborted if the push belongs to a round that is neither the next one nor an applied one, or to a training that is not
  # followed here; with Cancelled if its step ended; with FailedPrecondition if the counter has no value; with InvalidArgument if
  # the push contradicts the others; and with any failure of the rule. After a failure nothing has been applied.

  round @0 :UInt64;           # the round applied last; if it is higher than that of the push, that round had been applied before
}

struct AwaitRound {
  # Request, answered by Committed when the counter has reached the round. Sent by an executor to the replicas role, for a worker
  # that takes no part in the round, or whose gradients came too late. Fails with Cancelled and FailedPrecondition as a push does.

  step @0 :StepId;
  round @1 :UInt64;
  roundCell @2 :UInt32;
  training @3 :UInt64;        # 0: no training with a coordinator
}

struct CancelPushes {
  # Not a request. Sent by an executor to the replicas role when a step ends early. The pushes and AwaitRounds of the step are
  # answered with Cancelled. Their gradients are dropped, unless another step pushed the same shard too or they belong to a
  # training: those are kept until their round has been applied or the training ends. Has no effect on a round that is being
  # applied.

  step @0 :StepId;
}

struct ReportArrivals {
  # Not a request. Sent by the replicas role to itself: it reports the pushes of a training that it has received until then.

  training @0 :UInt64;
}

struct GradientMade {
  # Not a request. Sent by the compute pool to the replicas role in its own process: the gradient for the rule, the mean or what
  # the rule's function has made of the gradients of all shards, was too large for a handler and is there. Attachments: the
  # gradient and, if it is rows, their numbers; none after a failure.

  roundCell @0 :UInt32;
  failure @1 :Status;         # of the function; not set: none
}
