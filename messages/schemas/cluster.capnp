# Cluster: how messages name the actors of other processes.
@0xbde911fb86de3199;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

struct Address {
  # The name of an actor, chosen by the code that spawns it. Within an incarnation no other actor ever gets the same name, except
  # the successor of a restarted one.

  task @0 :Text;             # "/job:ps/replica:0/task:0"
  incarnation @1 :UInt64;    # random per start of the process: an address from an earlier start finds no actor
  role @2 :Text;
  key @3 :Text;
}
