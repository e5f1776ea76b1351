# Worker: one per process; runs the parts of steps that lie on the devices of its process. All requests here except ConfirmStep come
# from a master. The partitions of a master are dropped when it deregisters them, or when it ends or is lost; so is the state that
# its session shares with no other session.
#
#   master                          worker                      executors (one per device)
#     | RegisterPartition ----------->| prepares               |
#     | RunPartition, feeds --------->| the same message --------->| run the step; send TensorsArrived to each other
#     |                               |<---- PartitionDone ------- |
#     |<------ PartitionDone, fetches |
#     | AbortStep ------------------->| the same message --------->|
#
# A restarted worker knows no partition: it answers with Aborted, and the master registers its partitions again.
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
  # Request, answered by DevicesListed. Sent by a process that opens a session over this task. Fails with Unavailable while this
  # node has no link to one of the other workers of the session; the sender asks again.

  workers @0 :List(Address);
}

struct DevicesListed {
  devices @0 :List(Device);
}

struct Device {
  name @0 :Text;              # full name
  incarnation @1 :UInt64;     # random per life of the device
  memory @2 :UInt64;          # how many bytes it may use
}

struct DropContainers {
  # Request, answered by ContainersDropped. Sent by a session server (sessions.capnp). Drops the state of the nodes whose attribute
  # container is one of these, in the containers of all sessions, and ends all sessions that have registered partitions here: their
  # partitions and kept tensors are dropped, and their masters get ResetSession.

  containers @0 :List(Text);  # "localhost" and "" stand for nodes without the attribute; none: all nodes
}

struct ContainersDropped {
  states @0 :UInt64;          # how many variables, queues, ... were dropped
}

struct RegisterPartition {
  # Request, answered by PartitionRegistered. Sent once per signature and worker process. Attachments: the tensors of the attributes
  # of all graphs.

  session @0 :UInt64;
  partition @1 :UInt64;       # chosen by the master, never used again in the session
  parts @2 :List(Part);       # one per device of the process that takes part
  executors @3 :List(Executor);
  seed @4 :UInt64;            # the session's seed for random ops
  master @5 :Address;
  # When this actor ends or is lost, everything that it registered is dropped. It is also the other end of the Sends and Recvs that
  # name the device "client": those of partial runs.
  container @6 :Text;
  # The container in which the nodes find variables and queues by name; the same for all partitions of the session. Empty: the
  # shared container, which stays. Any other is the session's own container, which is dropped when its master ends.
}

struct Part {
  # The part of the partition that runs on one device.

  device @0 :Text;
  graph @1 :Graph;
  feeds @2 :List(End);        # those tensors attached to RunPartition that this part takes
  fetches @3 :List(End);      # those results of the step that this part yields
  graphDigest @4 :UInt32;
  # The CRC-32C of the graph in Cap'n Proto's canonical form. A damaged graph can be a valid one, such as one with a loop that never
  # ends.
}

struct End {
  # Where a fed tensor enters a part, or a fetched tensor leaves it.

  position @0 :UInt32;        # among the feeds or fetches of the signature
  output @1 :Output;
}

struct Executor {
  # An executor that runs another part of the step: Sends of this partition go there.

  device @0 :Text;
  address @1 :Address;
}

struct PartitionRegistered {
}

struct RunPartition {
  # Request, answered by PartitionDone. Attachments: the feeds that `positions` names. Sent once per step and worker process; the
  # worker forwards the same message to each executor that takes part.

  step @0 :StepId;
  partition @1 :UInt64;
  floor @2 :UInt64;
  # Every step of the partition with a lower ordinal is over, so messages that still arrive for such a step are dropped. Never above
  # the ordinal of this step. InvalidArgument if this step is below a floor sent before, or already runs or has ended.
  remaining @3 :UInt64;       # nanoseconds until the deadline; 0: no deadline
  training @4 :Bool;
  round @5 :UInt64;
  positions @6 :List(UInt32); # empty: all feeds, in order
  profile @7 :Bool;           # PartitionDone is to contain a profile
  earlierRuns @8 :List(NodeRuns);  # for the random nodes of these parts that have their own seeds
  shard @9 :Int64 = -1;       # the logical shard that the step computes; -1: none in particular
  unlocked @10 :UInt64;       # the unlocked phase of RunStep
}

struct NodeRuns {
  # In how many earlier steps of the session this node took part. Outside training this number and the node's seeds determine its
  # random numbers.

  node @0 :Text;
  runs @1 :UInt64;
}

struct PartitionDone {
  # Sent when nothing of the step runs any more in that process; a failure is also answered only then. Attachments: the fetches that
  # `positions` names.

  step @0 :StepId;
  positions @1 :List(UInt32);
  profile @2 :List(DeviceProfile);  # empty unless RunPartition asked for it
  partition @3 :UInt64;       # step and partition must be those of RunPartition; otherwise the master ends the step with Internal
}

struct PartitionBroken {
  # Not a request. Sent by an executor to the master: the executor has lost another executor of the partition, so tensors between
  # the two may be lost. The master fails the running steps.

  partition @0 :UInt64;
  reason @1 :Status;
}

struct AbortStep {
  # Not a request: PartitionDone follows as always. Sent by the master to the workers, and by them to the executors, when a part of
  # the step failed, the caller cancelled it or the deadline passed. Has no effect on a step that is over. A step that has not begun
  # yet is refused when its RunPartition arrives. Sent again every ten heartbeats until all have answered.

  step @0 :StepId;
  reason @1 :Status;
  partition @2 :UInt64;       # that of the step's RunPartition
}

struct ConfirmStep {
  # Request, answered by StepConfirmed. Sent by an executor to the master when another executor of the partition does not know the
  # step (executor.capnp). Fails with NotFound if no such step runs.

  step @0 :StepId;
  partition @1 :UInt64;
}

struct StepConfirmed {
}

struct DeregisterPartition {
  # Not a request. Sent by the master when no step of the partition runs.

  session @0 :UInt64;
  partition @1 :UInt64;
}
