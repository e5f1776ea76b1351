# Rounds: coordinates the rounds of a synchronous training. A batch has n logical shards, and each round applies the gradients
# of all of them or, with backup workers, of the first m (OSDI 2016, section 4.4). Then the coordinator fixes the set of the m
# shards once per round, and the replicas role of every device applies exactly this set, in shard order. It also fixes rounds,
# of all shards, if workers read variables where they are: then no variable may get a round while a worker may still read
# another one for it. There is a rounds role on every device; a training uses the one beside its first variable.
#
#   client            rounds                       replicas (of each device)       trainer
#     | BeginRounds --->| FollowRounds --------------->|                              |
#     |<-- RoundsBegun  |<------------------ Following |                              |
#     | SetTrainers --->|                              |                              |
#     |                 |                              |<-------------- PushGradient  | one per shard and group (replicas.capnp)
#     |                 |<-------------- ShardsArrived |                              |
#     |          m shards have pushed to every group: the set of the round is fixed   |
#     |                 | RoundFixed ----------------->| applies the mean of the set  |
#     |                 | RoundFixed ------------------------------------------------>| of a shard that is not in the set: cancels
#     | RequireShards ->| m changes from the next round that is fixed                 | its step of this round
#     | EndRounds ----->| StopFollowing -------------->| drops what was not applied   |
#     |<-- RoundsEnded  |                              |                              |
#
# With bounded staleness (Ho et al. 2013) workers apply their own gradients at once, and the coordinator only keeps a worker from
# beginning a round that is too far ahead of the rounds of the others:
#
#   trainer                       rounds
#     | FinishRound (r) ------------>|   may begin round r + 1 when all others have finished round r - s
#     |<-------------- RoundFinished |
#
# A training ends when its client sends EndRounds or is lost, or when a replicas role is lost. The pushes of a training that has
# ended, or of one that its replicas roles do not follow, fail with Aborted: a superseded training never changes the variables. The
# state of the coordinator is lost with its process; then the training begins anew, from a checkpoint.
#
# Costs, if rounds are not fixed: nothing per round. If they are, per round: one ShardsArrived from each device for all pushes
# that it had received when it sent it, one RoundFixed to each device and to each trainer that is late.
@0xc8a1f7d20f1b6e43;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

using Address = import "cluster.capnp".Address;

struct BeginRounds {
  # Request, answered by RoundsBegun when all replicas roles follow. Fails with InvalidArgument if the numbers are not consistent,
  # and with any failure to reach an actor.

  training @0 :UInt64;         # chosen at random by the client; never 0
  client @1 :Address;          # an actor of the client: when it is lost, the training ends
  replicas @2 :List(Address);  # the replicas roles of all devices that have variables of the training
  shards @3 :UInt32;           # n, at least 1
  required @4 :UInt32;         # m, from 1 to n
  # Whether the coordinator fixes each round: m may be less than n, now or later, or a round must be applied to all groups at once.
  backups @5 :Bool;
  pushes @6 :UInt32;           # how many pushes each shard makes per round: the number of groups; at least 1
  applied @7 :UInt64;          # how many rounds have been applied
  staleness @8 :Int64 = -1;    # s; not negative: bounded staleness, for which replicas and pushes are not needed
}

struct SetTrainers {
  # Not a request. Sent by the client to the rounds role when it has assigned the shards, if rounds are fixed or with bounded
  # staleness only.

  training @0 :UInt64;
  trainers @1 :List(Trainer);  # in the order of their workers
  applied @2 :Int64 = -1;      # how many rounds have been applied, if none is in progress; -1: a round may be in progress
}

struct Trainer {
  actor @0 :Address;
  shards @1 :List(UInt32);     # the shards that it computes
}

struct RoundsBegun {}

struct FollowRounds {
  # Request, answered by Following. Sent by the rounds role to a replicas role, which watches the sender from then on.

  training @0 :UInt64;
  coordinator @1 :Address;     # the sender
  backups @2 :Bool;            # rounds are applied when RoundFixed says so; otherwise when all shards of a group have pushed
}

struct Following {}

struct ShardsArrived {
  # Not a request. Sent by a replicas role to the rounds role: pushes that it has received since its last report, including those
  # that came too late. It keeps what it has reported until the round is fixed, whatever becomes of the step that pushed.

  training @0 :UInt64;
  arrivals @1 :List(ShardArrival);
}

struct ShardArrival {
  round @0 :UInt64;
  shard @1 :UInt32;
  pushes @2 :UInt32;           # to how many groups
}

struct RoundFixed {
  # Not a request.

  training @0 :UInt64;
  round @1 :UInt64;
  shards @2 :List(UInt32);     # ascending
}

struct FinishRound {
  # Request, answered by RoundFinished when the worker may begin the next round. Sent by a trainer to the rounds role, with bounded
  # staleness only. Fails with Aborted if the training has ended.

  training @0 :UInt64;
  worker @1 :UInt32;           # its position in SetTrainers
  round @2 :UInt64;            # the round that it has finished
}

struct RoundFinished {}

struct RequireShards {
  # Request, answered by RoundsBegun. Sets m. Fails with InvalidArgument if it is not from 1 to n, with FailedPrecondition if the
  # training has no backup workers, and with NotFound if the training has ended.

  training @0 :UInt64;
  required @1 :UInt32;
}

struct EndRounds {
  # Request, answered by RoundsEnded, with zeros if the training has ended before.

  training @0 :UInt64;
}

struct RoundsEnded {
  leftOut @0 :List(UInt64);    # for each shard the number of rounds that were fixed without it
  late @1 :UInt64;             # how many gradients came too late and were dropped
}

struct StopFollowing {
  # Not a request. The kept pushes of the training are dropped, and their steps fail with Aborted.

  training @0 :UInt64;
}
