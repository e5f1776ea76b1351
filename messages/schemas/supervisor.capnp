# Supervisor: one per task. It watches the permanent actors of its task (replicas, worker, checkpoint) and the actors of its
# variables and queues. When one of them ends abnormally, because a handler threw an exception or with a failure as its reason, the
# supervisor starts a successor, and the directory leads to the successor. Variables and queues are watched from their creation
# until their container is dropped. Requests that the failed actor had not answered are answered with Unavailable; the sender may
# repeat them.
#
#   actor --ended with a failure--> restarted at once, unless
#      its state was lost with it, or it has failed more often than allowed (n times within t seconds)
#           v
#        failed permanently: from now on all requests to its address are answered with Internal and the reason; the runtime is told
#
# No messages are sent while no actor fails.
@0x9c3f0e1d54a7b826;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

using Address = import "cluster.capnp".Address;
using Status = import "status.capnp".Status;

struct ListActors {
  # Request, answered by ActorsListed. Any actor may send it.
}

struct ActorsListed {
  actors @0 :List(Child);
}

struct Child {
  address @0 :Address;
  restarts @1 :UInt32;       # how often it has been restarted
  reason @2 :Status;         # why it ended last; Ok: it never did
  failed @3 :Bool;           # it has failed permanently and is not restarted
}

struct ChildEnded {
  # Not a request. Sent to the supervisor, in its own process, by the thread on which a child ended with a failure. Has no effect if
  # the child was dropped meanwhile.

  child @0 :Address;
  reason @1 :Status;
}
