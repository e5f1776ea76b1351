# Supervisor: one per task. It watches the permanent actors of its task (replicas, worker, checkpoint), those of its variables and
# those of its queues, and puts another in the place of one that ended as it should not: because a handler threw, or with a failure
# as its reason. The directory then leads to the successor. Variables and queues are watched from when they are made until their
# container is dropped. What was asked of the one before is answered Unavailable: once more may help.
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
  actors @0 :List(Child);
}

struct Child {
  address @0 :Address;
  restarts @1 :UInt32;       # so far
  reason @2 :Status;         # why it ended last; Ok: it never did
  givenUp @3 :Bool;
}

struct ChildEnded {
  # From the thread on which a child ended with a failure -> supervisor, in its own process. Not a request. Has no effect when the
  # child was dropped meanwhile.

  child @0 :Address;
  reason @1 :Status;
}
