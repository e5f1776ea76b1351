# What a step that was asked for it tells of where its time went.
@0xb7d1c0a5e92f4c68;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

struct DeviceProfile {
  # Of the part of a step on one device. Times in nanoseconds.

  device @0 :Text;
  nodes @1 :List(NodeProfile);  # those that ran
  driven @2 :UInt64;            # in which a thread drove the part: its nodes, and what is between them
  elapsed @3 :UInt64;           # from its start to its end: what is not driven was waited
}

struct NodeProfile {
  name @0 :Text;                # of a feed or fetch that of the node whose output it is
  op @1 :Text;                  # "feed", "fetch" for those
  runs @2 :UInt32;
  time @3 :UInt64;              # of all runs together; of what another role carries out only until it was asked
}
