# Session: a client's way to a graph that lives with a master. Every message here goes from a session to its master, which
# answers it. Extend, PrepareStep and CloseSession act in the order sent; steps run beside each other.
#
#   session                         master
#     | Extend ---------------------->|  appended, or refused as a whole
#     | PrepareStep ----------------->|  pruned, placed, partitioned, registered with the workers: once per signature
#     | RunStep, feeds -------------->|  one RunPartition per worker process
#     |<--------- StepDone, fetches --|
#     | CloseSession ---------------->|  running steps end Cancelled, then all that was registered goes, and state of its own
#
# When the master is lost every pending call is answered Unavailable, and so is every later one: a new session starts with an
# empty graph. When the session is lost the master does as for CloseSession.
@0xcb583dd6ed6c7f4c;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

using Graph = import "graph.capnp".Graph;
using DeviceProfile = import "profile.capnp".DeviceProfile;

struct StepId {
  # The name of one step everywhere. Picked by the master, never used again.

  session @0 :UInt64;        # incarnation of the session: random, made with the session
  ordinal @1 :UInt64;        # 1, 2, ... in the order the master starts steps
}

struct Extend {
  # Request -> Extended. Steps that run, and signatures prepared, keep the graph they began with. Aborted when `version` is not the master's: somebody else was
  # first, fetch and try again. AlreadyExists when a name is taken; the graph is then as before.

  graph @0 :Graph;           # attachments: tensors of its attributes
  version @1 :UInt64;        # of the graph that this extends, 0 for an empty one
}

struct Extended {
  version @0 :UInt64;        # to extend next
}

struct PrepareStep {
  # Request -> StepPrepared. The same signature gives the same handle. The master keeps the signatures used last, a bounded
  # number; RunStep with a forgotten handle is answered Aborted: prepare again.

  feeds @0 :List(Text);      # "name:k", each once
  fetches @1 :List(Text);    # "name:k", not among the feeds
  targets @2 :List(Text);    # names of nodes to run for their effect
}

struct StepPrepared {
  handle @0 :UInt64;         # picked by the master, never used again
}

struct RunStep {
  # Request -> StepDone. Attachments: one tensor per feed, in the order prepared. Costs this message and its reply per step.

  handle @0 :UInt64;
  call @1 :UInt64;           # picked by the session, never used again: what CancelStep names
  remaining @2 :UInt64;      # nanoseconds until DeadlineExceeded; 0: no deadline
  training @3 :Bool;         # advances the training round: `round` keys the random ops
  round @4 :UInt64;
  profile @5 :Bool;          # StepDone shall tell where the time went
}

struct StepDone {
  # Attachments: one tensor per fetch, in the order prepared; none unless the status is Ok.

  step @0 :StepId;
  profile @1 :List(DeviceProfile);  # when asked for
}

struct CancelStep {
  # Not a request: the step's own StepDone tells, Cancelled or whatever came first. No effect on a call that is over.

  call @0 :UInt64;
}

struct StepExpired {
  # master's timer -> master. Not a request: the caller is answered DeadlineExceeded at once, and the step drains.

  ordinal @0 :UInt64;
}

struct AbortAgain {
  # master's timer -> master. Not a request: the step has failed, and some workers have not answered yet; they are told once more.

  ordinal @0 :UInt64;
}

struct CloseSession {
  # Request -> SessionClosed. Calls after it are answered Cancelled.
}

struct SessionClosed {
}
