# Who is where.
@0xbde911fb86de3199;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

struct Address {
  # The name of an actor. Chosen by whoever spawns the actor; the key is never used again within an incarnation.

  task @0 :Text;             # "/job:ps/replica:0/task:0"
  incarnation @1 :UInt64;    # random per process start: an address of an earlier life reaches nobody
  role @2 :Text;
  key @3 :Text;
}
