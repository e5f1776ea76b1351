# Trainer: one per node that takes part in runs of `troupe train`. It carries out one worker's part of a run (between-graph
# replication): it builds the graph of its own logical shards, runs it in its own session over its devices and the parameter
# servers, and feeds it from data files that it reads itself.
#
#   client                              trainer (of each worker)
#     | BeginTraining ------------------->| reads the data, builds the graph, opens the session, fetches the variables
#     |<------------------ TrainingBegun  |
#     | RunRounds (first, rounds) ------->| one step per round: feeds variables, pushes gradients, fetches the next variables
#     |<---------------------- RoundsRun  |
#     | EndTraining --------------------->| the running step ends with Cancelled, and the session is closed
#
# The client initializes the variables before, and changes them only between two RunRounds. In synchronous mode a round ends for all
# workers when the shards of all workers have pushed, so the client sends every trainer the same rounds. A trainer carries out one
# run at a time; the run ends with its client.
@0xbddf0029980d96d3;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

using Address = import "cluster.capnp".Address;

struct BeginTraining {
  # Request, answered by TrainingBegun. Fails with FailedPrecondition if another run is active, and with any failure of reading the
  # run file or the data and of opening the session.

  config @0 :Text;            # the effective run file, with absolute paths
  jobs @1 :List(JobSize);     # the jobs of the cluster
  round @2 :UInt64;           # how many rounds have been applied to the variables so far
  client @3 :Address;         # an actor of the client: when it is lost, the run ends
}

struct JobSize {
  name @0 :Text;
  tasks @1 :UInt32;
}

struct TrainingBegun {
  shards @0 :List(UInt32);    # the logical shards that this trainer computes
}

struct RunRounds {
  # Request, answered by RoundsRun. Runs the rounds first, first + 1, ..., counted from 1. Fails with InvalidArgument if they do not
  # follow the rounds that were run before.

  first @0 :UInt64;
  rounds @1 :UInt32;
  last @2 :UInt64;            # first + rounds - 1; a worker that ran other rounds than the others would leave them waiting
}

struct RoundsRun {
  # The lists have one entry per round and, within a round, per shard of TrainingBegun.

  losses @0 :List(Float64);
  samples @1 :List(Int64);    # how many samples the shard had: the weight of its loss
  waited @2 :Float64;         # for how many seconds the rounds waited for their batches
}

struct EndTraining {
  # Not a request.
}
