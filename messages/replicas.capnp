# Replicas: gathers the gradients of all logical shards for one group of variables and commits their sum, round by round.
# Synchronous mode: round r + 1 is the sum, in shard order and weighted by samples, of one push per shard, applied once.
# A push is keyed (round, worker, shard). The round applied last is part of the state and saved with it: a repeated push is
# answered and never applied twice. What was pushed and not committed when the process is lost is pushed again.
@0xde274ebc19f47986;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

using StepId = import "session.capnp".StepId;

struct PushGradients {
  # Request -> Committed, when the round has been applied. worker -> replicas, one per shard and group. Attachments: what
  # `gradients` counts, in order. Costs the bytes of the gradients, once.

  step @0 :StepId;
  round @1 :UInt64;           # to be made: one more than the round the gradients were computed at
  worker @2 :UInt32;
  shard @3 :UInt32;           # below the number of logical shards
  samples @4 :UInt64;         # in the shard's part of the batch: its weight
  gradients @5 :List(Gradient);
}

struct Gradient {
  # Of one variable: dense is one attachment, of the variable's shape; rows are two, values and their indices.

  cell @0 :UInt32;            # in the group
  kind @1 :Kind;
  enum Kind {
    none @0;                  # this shard has none: no attachment
    dense @1;
    rows @2;
  }
}

struct Committed {
  # Or a failure: Aborted: the push belongs to a round that is neither the next nor an applied one
  # `round` is the one applied last. Ok with a higher round than the pushed one: it had been applied before.

  round @0 :UInt64;
}
