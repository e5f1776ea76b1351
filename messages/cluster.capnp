# Who is where, and who is gone.
@0xbde911fb86de3199;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

using Status = import "status.capnp".Status;

struct Address {
  # The name of an actor. Chosen by whoever spawns the actor; the key is never used again within an incarnation.

  task @0 :Text;             # "/job:ps/replica:0/task:0"
  incarnation @1 :UInt64;    # random per process start: an address of an earlier life reaches nobody
  role @2 :Text;
  key @3 :Text;
}

struct Down {
  # node of the actor that ended -> every actor elsewhere that asked for it, once, after the last message of that actor; made
  # by the link itself, for all that it knew there, when the peer is lost. Nothing that was addressed to the actor and not
  # answered will be. One message per watched actor, none per step.

  actor @0 :Address;
  reason @1 :Status;         # Ok when it ended as it should
}
