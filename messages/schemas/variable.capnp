# Variable: the one writer of the variables on a device. Requests come from executors (ops), the checkpoint writer and the replicas
# role. Those that share a cell are served in the order of arrival, each as a whole: no two updates of three cells
# mix. A reader in the same process reads the published snapshot and sends nothing.
# A cell is named by its number among the state of its task, whichever container it is in.
# When the owner is lost so are the values; what a checkpoint covers comes back with a restore.
@0xd5306772645cbbc2;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

using StepId = import "session.capnp".StepId;

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
  # per cell. All or none.

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
  # Attachments: the values, all from one moment.

  versions @0 :List(UInt64);
}
