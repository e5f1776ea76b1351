# Monitor: one per node. It tells clients what its node is and does (`troupe status --cluster`).
#
#   client                              monitor
#     | DescribeNode ------------------->|
#     |<------------------ NodeDescribed |
#
# What the trainer of the node does, the client learns from the trainer itself (ReportActivity in trainer.capnp). Both answer at
# once, whatever the node is computing. An answer has some dozens of bytes for each task that the client names.
@0x9c9b2e0a6f1d4e57;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

struct DescribeNode {
  # Request, answered by NodeDescribed. Changes nothing; any client may send it at any time.

  tasks @0 :List(Text);       # full names; those of the other members of the cluster
}

struct NodeDescribed {
  started @0 :Float64;        # when the process began to serve, in seconds since 1970
  links @1 :List(LinkState);  # to the tasks in their order
  # How many bytes the messages to and from all other processes of the cluster have had, with tensors that were lent.
  sent @2 :UInt64;
  received @3 :UInt64;
  cpu @4 :UInt64;             # for how many nanoseconds the threads of the process have used processors, in sum
  unsent @5 :UInt64;          # how many bytes of messages to other processes waited at the last heartbeats
}

struct LinkState {
  linked @0 :Bool;
  text @1 :Text;              # how frames travel ("shared memory"), or why they do not
}
