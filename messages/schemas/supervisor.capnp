# Supervisor: one per task. It watches the permanent actors of its task (device, variable, replicas, worker, checkpoint) and puts
# another in the place of one that ended as it should not: because a handler threw, or with a failure as its reason. The directory
# then leads to the successor. What was asked of the one before is answered Unavailable: once more may help.
#
#   watched --ended with a failure--> restarted at once, unless
#      its state went with it, or it has ended so more often than allowed (n times within t seconds)
#           v
#        given up: whoever asks at its address is answered Internal with the reason, at once and ever after; the runtime is told
#
# Nothing is sent while all is well.
@0x9c3f0e1d54a7b826;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

using Address = import "cluster.capnp".Address;
using Status = import "status.capnp".Status;

struct ListActors {
  # Request -> ActorsListed. From whoever wants to know how the task does.
}

struct ActorsListed {
  actors @0 :List(Permanent);
}

struct Permanent {
  address @0 :Address;
  restarts @1 :UInt32;       # so far
  reason @2 :Status;         # why it ended last; Ok: it never did
  givenUp @3 :Bool;
}
