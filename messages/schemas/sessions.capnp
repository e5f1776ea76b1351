# Sessions: one actor per member of a cluster, the session server. It opens sessions for clients that have no devices and know only
# this member. The master of such a session lives on the node of the server; the client sends it the messages of session.capnp.
#
#   client                            session server                 worker of each task
#     | Hello ------------------------->|   a link like any other client's: link.capnp
#     | OpenSession ------------------->| ListDevices ------------------>|   when all tasks of the session are linked
#     |                                 |<--------------- DevicesListed  |
#     |<-------- SessionOpened, master  |   spawns the master
#     | Extend, PrepareStep, ... to the master
#
# When the link to the client is lost, the master does the same as for CloseSession. When the link to the node of the master is
# lost, every pending and every later call of the client is answered with Unavailable.
@0xbf3d5c71a2be4806;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

using Address = import "cluster.capnp".Address;
using Device = import "worker.capnp".Device;

struct OpenSession {
  # Request, answered by SessionOpened when all tasks of the session are linked. Fails with DeadlineExceeded, which lists the tasks
  # that are missing, or at once with the code of a permanent refusal; with InvalidArgument if an option is not allowed; with
  # ResourceExhausted if this server has as many sessions as it may have; with Unavailable if it has no link to the client.

  client @0 :Address;        # of the client's process; role and key are empty
  tasks @1 :List(Text);      # the tasks that the session uses beside the server's, as "/job:ps"; empty: all
  patience @2 :UInt64;       # nanoseconds until the request fails with DeadlineExceeded
  ownState @3 :Bool;         # the session shares its variables and queues with no other session
  seeded @4 :Bool;           # `seed` is the seed of random ops that have none of their own; otherwise the server draws one
  seed @5 :UInt64;
  softPlacement @6 :Bool;
  keepGraph @7 :Bool;        # constants are not folded, and common subexpressions are not shared
  signatures @8 :UInt32;     # how many signatures are kept prepared; at least 1
  deviceChoice @9 :UInt8;    # a DeviceChoice of actors/step/session_options.h
  lossyTransfers @10 :Bool;  # float tensors travel between tasks as bfloat16
  checkFinite @11 :Bool;     # a step fails that computes NaN or infinity from finite numbers
}

struct SessionOpened {
  session @0 :UInt64;        # the session's number
  container @1 :Text;        # the container of its state (worker.capnp)
  master @2 :Address;
  coordinator @3 :Address;   # the coordinator of its checkpoints (checkpoint.capnp)
  workers @4 :List(Worker);
}

struct Worker {
  worker @0 :Address;
  devices @1 :List(Device);
}

struct ResetContainers {
  # Request, answered by ContainersReset when all tasks of the cluster have answered DropContainers (worker.capnp). Fails with
  # DeadlineExceeded, which lists the tasks that are missing, or with the code of a permanent refusal; some tasks may have dropped
  # their state then.

  containers @0 :List(Text); # as in DropContainers
  patience @1 :UInt64;       # nanoseconds until the request fails with DeadlineExceeded
}

struct ContainersReset {
  states @0 :UInt64;         # how many variables, queues, ... were dropped in all tasks
}

struct AskAgain {
  # Not a request. Sent by the clock to the server: some time ago a task was not linked that a session is to use.

  question @0 :UInt64;       # chosen by the server
}
