# Profile: where the time of a step went, for a step that was to be profiled.
@0xb7d1c0a5e92f4c68;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

struct DeviceProfile {
  # The profile of the part of a step on one device. Times in nanoseconds.

  device @0 :Text;              # full name
  nodes @1 :List(NodeProfile);  # the nodes that ran
  driven @2 :UInt64;            # the time during which a thread drove the part: its nodes and the work between them
  elapsed @3 :UInt64;           # the time from the start to the end of the part; the rest beside `driven` was spent waiting
}

struct NodeProfile {
  name @0 :Text;                # for a feed or fetch: the name of the node whose output it is
  op @1 :Text;                  # "feed" and "fetch" for those
  runs @2 :UInt32;
  time @3 :UInt64;              # of all runs together; for an op that an actor carries out, only until the request was sent
}
