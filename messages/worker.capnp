# Worker: one per process; runs the parts of steps that lie on the devices of its process. All requests here come from a
# master. What a master registered goes when it deregisters it or is lost.
#
#   master                          worker                      executors (one per device)
#     | RegisterPartition ----------->| splits by device, prepares |
#     | RunPartition, feeds --------->| the same message --------->| ExecuteStep to the device, TensorsArrived to each other
#     |                               |<---- PartitionDone ------- |
#     |<------ PartitionDone, fetches |
#     | AbortStep ------------------->| the same message --------->|
#
# A worker that restarted knows no partition: it answers Aborted, and the master registers again.
@0xd954ed8be2f98c42;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

using Address = import "cluster.capnp".Address;
using Graph = import "graph.capnp".Graph;
using Output = import "graph.capnp".Output;
using Status = import "status.capnp".Status;
using StepId = import "session.capnp".StepId;

struct RegisterPartition {
  # Request -> PartitionRegistered. Once per signature and worker process.

  session @0 :UInt64;
  partition @1 :UInt64;       # picked by the master, never used again in the session
  graph @2 :Graph;            # every node with the device it was placed on; attachments: tensors of its attributes
  feeds @3 :List(Output);     # what RunPartition attaches, in this order: each in place of an output
  fetches @4 :List(Output);   # what PartitionDone attaches, in this order
  executors @5 :List(Executor);
  seed @6 :UInt64;            # of the session, for random ops
}

struct Executor {
  # Who runs the rest of the step: where Sends of this partition go.

  device @0 :Text;
  address @1 :Address;
}

struct PartitionRegistered {
  status @0 :Status;
}

struct RunPartition {
  # Request -> PartitionDone. Attachments: the feeds. One per step and worker process; the worker passes the very message on to
  # each executor concerned.

  step @0 :StepId;
  partition @1 :UInt64;
  floor @2 :UInt64;           # every step of the session with a lower ordinal is over: what still arrives for it is dropped
  remaining @3 :UInt64;       # nanoseconds; 0: no deadline
  training @4 :Bool;
  round @5 :UInt64;
}

struct PartitionDone {
  # Sent when nothing of the step runs any more in that process, whether it went well or not. Attachments: the fetches; none
  # unless the status is Ok.

  status @0 :Status;
  step @1 :StepId;
}

struct AbortStep {
  # master -> workers -> executors, when one partition failed, the caller cancelled or the deadline passed. Not a request:
  # PartitionDone follows as always. No effect on a step that is over; a step not begun yet is refused when it comes.

  step @0 :StepId;
  reason @1 :Status;
}

struct DeregisterPartition {
  # Not a request. Sent when no step of the partition runs.

  session @0 :UInt64;
  partition @1 :UInt64;
}
