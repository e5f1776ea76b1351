# Profile: where the time of a step went, for a step that was to be profiled.
@0xb7d1c0a5e92f4c68;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

struct DeviceProfile {
  # The profile of the part of a step on one device. Times in nanoseconds.

  device @0 :Text;              # full name
  nodes @1 :List(NodeProfile);  # the nodes that ran
  driven @2 :UInt64;            # the time during which a thread drove the part: its nodes and the work between them
  begin @4 :UInt64;             # when the part started, by the monotonic clock of its task
  asked @5 :UInt64;             # when the master asked the task for its part, by the monotonic clock of the master,
  answered @6 :UInt64;          # and when it got the answer; 0 in an answer to the master, which sets both
  elapsed @3 :UInt64;           # the time from the start to the end of the part; the rest beside `driven` was spent waiting
}

struct NodeProfile {
  name @0 :Text;                # for a feed or fetch: the name of the node whose output it is
  op @1 :Text;                  # "feed" and "fetch" for those
  runs @2 :UInt32;
  edge @4 :Text;                # for a Send or Recv: what names the edge, equal for both
  peer @5 :Text;                # for a Send or Recv: the full name of the device at the other end
  spans @6 :List(NodeSpan);     # of a step at most 16,384 on a device
  time @3 :UInt64;              # of all runs together; for an op that an actor carries out, only until the request was sent
}

struct NodeSpan {
  # One run of a node, or the time from its request to an actor until the reply. Times as DeviceProfile.begin.

  begin @0 :UInt64;
  end @1 :UInt64;
  bytes @2 :UInt64;             # of the inputs; of a reply, of the outputs
  waited @3 :Bool;              # it is the time from a request to its reply
}
