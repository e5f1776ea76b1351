# Trainer: one per node that serves runs of `troupe train`. It carries out a worker's part of a run, between-graph: the graph of its own
# logical shards, in a session of its own over its devices and the parameter servers, fed from data files that it reads itself.
#
#   client                              trainer (of each worker)
#     | BeginTraining ------------------->| reads the data, builds the graph, opens the session, fetches the variables
#     |<------------------ TrainingBegun  |
#     | RunRounds (first, rounds) ------->| one step per round: variables in, gradients out, variables of the next round back
#     |<---------------------- RoundsRun  |
#     | EndTraining --------------------->| the step that runs ends Cancelled, and the session with it
#
# The client has given the variables their values before, and changes them only between two RunRounds. In synchronous mode a round
# ends for all workers when the shards of all have pushed: the client sends every trainer the same rounds. One run at a time; it
# ends with its client.
@0xbddf0029980d96d3;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

using Address = import "cluster.capnp".Address;

struct BeginTraining {
  # Request -> TrainingBegun. FailedPrecondition while another run is on; what is wrong with the run file, the data or a session
  # as those say.

  config @0 :Text;            # the effective run file, paths absolute
  jobs @1 :List(JobSize);     # of the cluster
  round @2 :UInt64;           # rounds applied to the variables so far
  client @3 :Address;         # an actor of the client: lost, the run ends
}

struct JobSize {
  name @0 :Text;
  tasks @1 :UInt32;
}

struct TrainingBegun {
  shards @0 :List(UInt32);    # the logical shards computed here
}

struct RunRounds {
  # Request -> RoundsRun. Rounds first, first + 1, ... count from 1; they follow those run before, else InvalidArgument.

  first @0 :UInt64;
  rounds @1 :UInt32;
  last @2 :UInt64;            # first + rounds - 1: whoever runs other rounds than the others leaves them waiting
}

struct RoundsRun {
  # Per round and, within it, per shard of TrainingBegun.

  losses @0 :List(Float64);
  samples @1 :List(Int64);    # that the shard had: the weight of its loss
}

struct EndTraining {
  # Not a request.
}
