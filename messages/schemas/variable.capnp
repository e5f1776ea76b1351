# Variable: the one writer of a group of variables. There is an actor for each group. Requests come from executors (ops), the
# checkpoint writer and the replicas role. Those that share a cell are served in the order of arrival, each as a whole: no two
# updates of three cells mix. Those of different groups are served side by side. A reader in the same process reads the published
# snapshot and sends nothing.
# A cell is named by its number among the state of its task, whichever container it is in.
# When the owner is lost so are the values of its group; what a checkpoint covers comes back with a restore.
#
# A cell begins in a group of its own. A request that names cells of several groups joins these for good, before it is sent: from
# then on requests for all of them go to the actor of one group, which takes the cells over from the others.
#
#   who sends the request         actor of one group             actor of another group
#     | GroupChanged ---------------->| Release --------------------->| finishes what it was asked before
#     | the request ----------------->| is kept                       | passes on what comes later
#     |                               |<-------------------- Released |
#     |<---------------------- answer | serves what it kept           | ends when nobody can reach it any more
#
# An owner that ends before it has released leaves its values there, unless it was changing one: then the joined group is lost.
# What it had been asked is answered Unavailable. A successor of the actor on the left asks for the Release again.
@0xd5306772645cbbc2;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

using StepId = import "session.capnp".StepId;

struct GroupChanged {
  # Who joins groups or puts an actor in its place -> the group's actor, in its own process. Not a request. Which cells the group has
  # and who is to release some of them stands in what both share. Comes before any request for a cell that is new to the actor.
}

struct Release {
  # Request -> Released. The actor of a group -> that of a group joined with it, in its own process.
}

struct Released {
  # Nothing asked before is left to do, and the sender changes the cells no more. Or a failure: it has ended.
}

struct Update {
  # Request -> Updated. An op that changes cells: Assign, AssignAdd, ScatterSub, ApplyAdam. FailedPrecondition when a cell that
  # the op reads has no value yet. Attachments: its value inputs, in order. One message per op and step.

  step @0 :StepId;
  rule @1 :UInt64;             # the op, prepared: numbered by the device when its partition was registered
  cells @2 :List(UInt32);      # its ref inputs, in order
}

struct Updated {
  versions @0 :List(UInt64);   # of each cell of the request, after it
}

struct UpdateApplied {
  # pool -> variable, in its own process: an update too large for a handler has been computed. Not a request.

  update @0 :UInt64;           # counted by the variable role
}

struct Assign {
  # Request -> Updated. Sets whole cells, as restoring does; in order with the Updates of the same cells. Attachments: one value
  # per cell. All or none, since the cells are one group.

  cells @0 :List(UInt32);
  versions @1 :List(UInt64);   # that the cells then have; empty: one more than before
}

struct Read {
  # Request -> ReadDone. For readers elsewhere, and those that arrive while a value is being changed in place.

  step @0 :StepId;
  cells @1 :List(UInt32);
  versions @2 :List(UInt64);   # answer only once each cell has at least this version; empty: at once
}

struct ReadDone {
  # Attachments: the values, all from one moment, since the cells are one group. Between the answers for several groups updates may
  # happen.

  versions @0 :List(UInt64);
}
