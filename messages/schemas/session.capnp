# Session: a client's access to a graph that a master holds. A session sends every request here to its master, which answers it.
# Extend, PrepareStep, DescribeStep and CloseSession are carried out in the order sent; steps run at the same time.
#
#   session                         master
#     | Extend ---------------------->|  appends the graph, or refuses all of it
#     | PrepareStep ----------------->|  prunes, places, partitions and registers with the workers: once per signature
#     | DescribeStep ---------------->|  does the same, but registers nothing
#     | RunStep, feeds -------------->|  one RunPartition per worker process
#     |<--------- StepDone, fetches --|
#     | BeginPartialRun ------------->|  as for RunStep, but the executors wait for the feeds
#     | ContinuePartialRun, feeds --->|  TensorsArrived to the executors that wait; theirs, with the fetches, come to the master
#     |<-- PartialRunContinued, fetches
#     | CloseSession ---------------->|  running steps end with Cancelled; then partitions and unshared state are dropped
#
# When the master is lost, every pending and every later call is answered with Unavailable; a new session starts with an empty
# graph. When the session is lost, the master does the same as for CloseSession.
@0xcb583dd6ed6c7f4c;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

using Graph = import "graph.capnp".Graph;
using DeviceProfile = import "profile.capnp".DeviceProfile;

struct StepId {
  # The name of a step in all processes. Chosen by the master, never used again.

  session @0 :UInt64;        # the session's number, random, made with the session
  ordinal @1 :UInt64;        # 1, 2, ... in the order in which the master starts steps
}

struct Extend {
  # Request, answered by Extended. Running steps and prepared signatures keep the graph that they began with. Fails with Aborted if
  # `version` is not the master's version, because another extension came first. Fails with AlreadyExists if a name is taken. After
  # a failure the graph is unchanged.

  graph @0 :Graph;           # the tensors of its attributes are attachments
  version @1 :UInt64;        # the version of the graph that this extends; 0 for an empty graph
}

struct Extended {
  version @0 :UInt64;        # the version of the extended graph
}

struct PrepareStep {
  # Request, answered by StepPrepared. Equal signatures get the same handle. The master keeps a bounded number of signatures,
  # those used last, and beyond that number only those that run or are held. RunStep with a handle that was dropped fails with
  # Aborted: the session prepares the signature again, and holds it.

  feeds @0 :List(Text);      # "name:k", each once
  fetches @1 :List(Text);    # "name:k", not among the feeds
  targets @2 :List(Text);    # names of nodes to run for their effect
  partial @3 :Bool;          # for partial runs: BeginPartialRun takes the handle, RunStep does not
  hold @4 :Bool;             # one RunStep or BeginPartialRun with `held` follows at once: until then the signature is not dropped
}

struct StepPrepared {
  handle @0 :UInt64;         # chosen by the master, never used again
}

struct DescribeStep {
  # Request, answered by StepDescribed: what a step of this signature is made of. It decides on the devices of variables, as
  # PrepareStep does.

  feeds @0 :List(Text);      # as in PrepareStep
  fetches @1 :List(Text);
  targets @2 :List(Text);
}

struct PlacedNode {
  name @0 :Text;
  op @1 :Text;
  device @2 :UInt32;         # index into StepDescribed.devices
}

struct DevicePart {
  device @0 :UInt32;         # index into StepDescribed.devices
  graph @1 :Graph;
}

struct StepDescribed {
  # Attachments: the tensors of the attributes of all graphs.

  devices @0 :List(Text);    # full names
  nodes @1 :List(PlacedNode);
  ignoredRequests @2 :List(Text);  # sentences for people
  parts @3 :List(DevicePart);
}

struct RunStep {
  # Request, answered by StepDone. Attachments: one tensor per feed, in the order prepared. A step costs this message and its reply.

  handle @0 :UInt64;
  call @1 :UInt64;           # chosen by the session, never used again; CancelStep names it
  remaining @2 :UInt64;      # nanoseconds until the step fails with DeadlineExceeded; 0: no deadline
  training @3 :Bool;         # this is a step of training round `round`, which determines the numbers of random ops
  round @4 :UInt64;
  profile @5 :Bool;          # StepDone is to contain a profile
  held @6 :Bool;             # the signature was held for this step, by one PrepareStep
  shard @7 :Int64 = -1;      # the logical shard that the step computes; -1: none in particular
  unlocked @8 :UInt64;       # not 0: in this phase of the session, steps change variables in place, at the same time
}

struct StepDone {
  # Attachments: one tensor per fetch, in the order prepared.

  step @0 :StepId;
  profile @1 :List(DeviceProfile);  # empty unless RunStep asked for it
}

struct BeginPartialRun {
  # Request, answered by PartialRunBegun at once. Begins a step whose feeds the session gives, and whose fetches it takes, in
  # several calls (features.md C7). The master keeps the fetches until they are taken, and a failure until EndPartialRun comes.
  # The step ends when all its feeds have been given, when it fails, or with EndPartialRun.

  run @0 :RunStep;           # has no attachments and asks for no profile
}

struct PartialRunBegun {
  ordinal @0 :UInt64;        # of the step
}

struct ContinuePartialRun {
  # Request, answered by PartialRunContinued when the fetches are there, or with the failure of the step. Attachments: the
  # tensors of `feeds`. Fails with InvalidArgument, and changes nothing, if a feed was given or a fetch was asked for before, if
  # a tensor does not fit, or if a fetch needs a feed that has not been given yet. The call that gives the last feed and takes
  # the last fetch is answered when the step has ended; the run is then forgotten. Several calls may wait at a time.

  ordinal @0 :UInt64;
  feeds @1 :List(UInt32);    # positions in the signature, each once
  fetches @2 :List(UInt32);  # the same
}

struct PartialRunContinued {
  # Attachments: the fetches, in the order asked for.
}

struct EndPartialRun {
  # Not a request. The session has dropped the run: it is cancelled if it still runs, and forgotten. No effect on one that is over.

  ordinal @0 :UInt64;
}

struct CancelStep {
  # Not a request. The RunStep itself is answered, with Cancelled or with whatever came first, also if it
  # arrives later than this. Has no effect on a call that is over.

  call @0 :UInt64;
}

struct StepExpired {
  # Not a request. Sent by the clock to the master: the deadline of a step has passed. The caller is answered with DeadlineExceeded
  # at once, while the step's parts are still ending.

  ordinal @0 :UInt64;
}

struct AbortAgain {
  # Not a request. Sent by the clock to the master: a step has failed some time ago. The master sends AbortStep again to the workers
  # that have not answered yet.

  ordinal @0 :UInt64;
}

struct ResetSession {
  # Not a request. Sent by a worker to the master of each session that it knows, when state was dropped (DropContainers). Running
  # steps end with Aborted, and so does every later request except CloseSession: the session must be opened again.
}

struct CloseSession {
  # Request, answered by SessionClosed. Later calls are answered with Cancelled.
}

struct SessionClosed {
}
