# Link: what two nodes say to each other about their connections, all in frames addressed to actor number 0. One link per pair of
# nodes, of two connections: control, and bulk for frames with more than 64 KiB of tensors, so that nothing waits behind those. On
# each both say Hello first, and nothing else until they have heard the other's. Order holds on each, not between them.
#
#   node that connects               node
#     | Hello (control) -------------->|   checked; refused: Goodbye with the reason, and the connection closes
#     |<------------------------ Hello |
#     | Hello (bulk, same link) ------>|   on a second connection, once the first is good
#     |<------------------------ Hello |
#     | Bind 1 = "worker" ------------>|   once per actor that is addressed, on each connection used for it
#     | frame to 1, a request -------->|
#     |<---- frame that answers it     |   the reply, or a Status
#     |<---------------------- Down 1  |   that actor has ended: requests it owed are answered before
#     | Heartbeat -------------------->|   when nothing else was sent for an interval
#
# Of one task there is one process: while a link to one is alive, another that calls itself the same is refused with AlreadyExists. It
# asks again, as one that was restarted before its earlier life was missed, and gives up when that goes on.
#
# Where a transport proves who the peer is (TLS), a peer is the task that its certificate names. Who has proved to be of the cluster
# and no task of it may only call itself what is no member's: a client. Anything else is refused with PermissionDenied.
#
# A frame for a number that is bound to no actor is counted, and told by a Down.
#
# A link does not resume: when it is lost every request without an answer is answered Unavailable, and every stub goes down.
# Repetition happens at the level of steps. A frame that comes twice (same sequence) is dropped and counted; a gap closes the link.
@0xd0a52b4d8dd3e6ac;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

using Address = import "cluster.capnp".Address;
using Status = import "status.capnp".Status;

struct Hello {
  # Once, the first frame of either side.

  protocol @0 :UInt32;       # of links
  ops @1 :UInt64;            # hash of the op table: graphs mean the same on both sides
  cluster @2 :Text;
  task @3 :Text;             # "/job:ps/replica:0/task:0"
  incarnation @4 :UInt64;    # of the task: random per process start; all frames of this side carry it
  link @5 :UInt64;           # picked at random by who connects; the same on both connections of a link
  bulk @6 :Bool;
  heartbeat @7 :UInt64;      # nanoseconds: this side sends by control at least so often
  build @9 :Text;            # version of the program: "0.1.0"
  asking @8 :Bool;           # it only has a question about the cluster: it is no member, whatever its certificate says
}

struct Goodbye {
  # The last frame of whoever closes on purpose.

  reason @0 :Status;
}

struct Bind {
  # From now on frames to `number` are for the actor of this address, which must be one of the receiver's own. Picked by the
  # sender, never used for another one on this link. Down comes back at once when there is no such actor.

  number @0 :UInt64;
  actor @1 :Address;
}

struct Down {
  # The actor that this peer bound to `number` has ended. Sent after its last message. One per actor, none per step.

  number @0 :UInt64;
  reason @1 :Status;
}

# Every request gets one answer, whatever becomes of its frames. An actor may take its time, and no link can tell how long; but it
# can tell whether the other side still knows of the request:
#
#   who asked                        who is asked
#     | Audit 17, 23 ----------------->|   both by control and in bulk, behind whatever was sent before
#     |<------------------- Audited 23 |   on the same connection, behind whatever was answered before: 23 is not known here
#
# A request that is known on neither connection, twice in a row, was damaged on its way, or its answer was: it is answered DataLoss.

struct Audit {
  # Every ten heartbeats, while requests are older than that; two small frames, and two back.

  round @0 :UInt64;            # counted by the sender
  requests @1 :List(UInt64);   # the sequences of their frames; a thousand at most, the oldest
}

struct Audited {
  # At once.

  round @0 :UInt64;
  lost @1 :List(UInt64);       # of these requests no answer is owed
}

struct Heartbeat {
  # Nothing, which is more than silence. By control, whatever goes in bulk: that may be held up. A peer counts as dead after five
  # times the longer of the intervals that the two sides said in their hellos.
}
