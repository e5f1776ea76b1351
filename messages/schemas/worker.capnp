# Worker: one per process; runs the parts of steps that lie on the devices of its process. All requests here come from a
# master. What a master registered goes when it deregisters it or is lost; so does state that no other session shares.
#
#   master                          worker                      executors (one per device)
#     | RegisterPartition ----------->| prepares               |
#     | RunPartition, feeds --------->| the same message --------->| runs the step; TensorsArrived to each other
#     |                               |<---- PartitionDone ------- |
#     |<------ PartitionDone, fetches |
#     | AbortStep ------------------->| the same message --------->|
#
# A worker that restarted knows no partition: it answers Aborted, and the master registers again.
@0xd954ed8be2f98c42;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

using Address = import "cluster.capnp".Address;
using DeviceProfile = import "profile.capnp".DeviceProfile;
using Graph = import "graph.capnp".Graph;
using Output = import "graph.capnp".Output;
using Status = import "status.capnp".Status;
using StepId = import "session.capnp".StepId;

struct ListDevices {
  # Request -> DevicesListed. From whoever makes a session over this task. Unavailable while this node has no link to one of the
  # other workers of that session: ask again.

  workers @0 :List(Address);
}

struct DevicesListed {
  devices @0 :List(Device);
}

struct Device {
  name @0 :Text;              # in full
  incarnation @1 :UInt64;     # random per life of the device
  memory @2 :UInt64;          # bytes that it may take
}

struct RegisterPartition {
  # Request -> PartitionRegistered. Once per signature and worker process. Attachments: tensors of the attributes of all graphs.

  session @0 :UInt64;
  partition @1 :UInt64;       # picked by the master, never used again in the session
  parts @2 :List(Part);       # one per device of the process that takes part
  executors @3 :List(Executor);
  seed @4 :UInt64;            # of the session, for random ops
  master @5 :Address;         # when it ends or is lost, all that it registered goes
  container @6 :Text;         # in which nodes find variables and queues by name, the same in all the session registers. Empty: the
                              # one that stays and is shared. Any other is the session's own, and goes with its master.
}

struct Part {
  # What runs on one device.

  device @0 :Text;
  graph @1 :Graph;
  feeds @2 :List(End);        # of the tensors that RunPartition attaches, those for this part
  fetches @3 :List(End);      # of what the step returns
}

struct End {
  # Where a fed or fetched tensor enters or leaves a part.

  position @0 :UInt32;        # among the feeds or fetches of the signature
  output @1 :Output;
}

struct Executor {
  # Who runs the rest of the step: where Sends of this partition go.

  device @0 :Text;
  address @1 :Address;
}

struct PartitionRegistered {
}

struct RunPartition {
  # Request -> PartitionDone. Attachments: those feeds that `positions` names. One per step and worker process; the worker passes
  # the very message on to each executor concerned.

  step @0 :StepId;
  partition @1 :UInt64;
  floor @2 :UInt64;           # every step of the session with a lower ordinal is over: what still arrives for it is dropped. Not above
                              # this step. A step below a floor that was told, one that runs and one that has ended are refused: InvalidArgument.
  remaining @3 :UInt64;       # nanoseconds; 0: no deadline
  training @4 :Bool;
  round @5 :UInt64;
  positions @6 :List(UInt32); # empty: all of them, in order
  profile @7 :Bool;           # PartitionDone shall tell where the time went
  earlierRuns @8 :List(NodeRuns);  # of the random nodes of these parts that have seeds of their own
}

struct NodeRuns {
  # How many earlier steps of the session had this node: with its seeds, what its numbers follow from outside training.

  node @0 :Text;
  runs @1 :UInt64;
}

struct PartitionDone {
  # Sent when nothing of the step runs any more in that process; a failure is answered by then too. Attachments: the fetches
  # that `positions` names.

  step @0 :StepId;
  positions @1 :List(UInt32);
  profile @2 :List(DeviceProfile);  # when asked for
  partition @3 :UInt64;       # step and partition are those of RunPartition, or the master ends the step with Internal
}

struct PartitionBroken {
  # executor -> master. Not a request. An executor that others of the partition may have sent tensors to, or had them from, is
  # lost to this one, and what was on its way with it: the master fails the steps that run.

  partition @0 :UInt64;
  reason @1 :Status;
}

struct AbortStep {
  # master -> workers -> executors, when one partition failed, the caller cancelled or the deadline passed. Not a request:
  # PartitionDone follows as always. No effect on a step that is over; a step not begun yet is refused when it comes. Told again every
  # ten heartbeats until all have answered.

  step @0 :StepId;
  reason @1 :Status;
}

struct ConfirmStep {
  # Request -> StepConfirmed, or NotFound: no such step runs. executor -> master, when another executor of the partition does not know
  # the step (executor.capnp).

  step @0 :StepId;
  partition @1 :UInt64;
}

struct StepConfirmed {
}

struct DeregisterPartition {
  # Not a request. Sent when no step of the partition runs.

  session @0 :UInt64;
  partition @1 :UInt64;
}
