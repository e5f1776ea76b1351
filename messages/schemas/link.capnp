# Link: the messages with which two nodes manage their connections. All travel in frames addressed to actor number 0. Two nodes
# share one link. A link has two connections: control, and bulk for frames with more than 64 KiB of tensors, so that nothing waits
# behind such frames. On each connection both sides first send Hello, and send nothing else until they have received the Hello of
# the other side. Frames keep their order on each connection, but not across the two.
#
#   node that connects               node that accepts
#     | Hello (control) -------------->|   checked; if it is refused: Goodbye with the reason, and the connection is closed
#     |<------------------------ Hello |
#     | Hello (bulk, same link) ------>|   on a second connection, once the first one is accepted
#     |<------------------------ Hello |
#     | Bind 1 = "worker" ------------>|   once per actor that is addressed, on each connection used for it
#     | frame to 1, a request -------->|
#     |<---- frame that answers it     |   the reply, or a Status
#     |<---------------------- Down 1  |   the actor has ended; the requests that it had not answered are answered before
#     | Heartbeat -------------------->|   when nothing else was sent for one interval
#
# If both nodes can meet at one place, the second connection goes through another transport: memory that they share, if they run on
# one host as the same user (actors/net/shared_*). Then it also carries all frames for actors and all Downs, of any size:
#
#   node that connects               node that accepts
#     | Hello (control, place) ------->|
#     |<----- Hello (address, token) --|   the places are equal
#     | token ------------------------>|   at that address: of a Unix socket, which both sides accept only from a process of their
#     |<----------- descriptor of memory                                                                        own user
#     | Hello (bulk, same link) ------>|   in that memory
#
# Nodes that are to use UCX (actors/net/ucx_*) do the same with the address of a UCX worker: the token, sent there, opens a stream.
#
# Both sides keep such frames back until the second connection is there, so that their order holds. If it cannot be made in this
# way, the node that connects makes a second TCP connection, and sends its Hello there.
#
# A task is one process. While a link to the process of a task is alive, another process that claims to be the same task is refused
# with AlreadyExists. The refused process tries again, since it may be a restarted process whose predecessor has not been missed
# yet; it gives up when the refusals continue.
#
# If the transport proves the identity of the peer (TLS), the peer must be the task that its certificate names. A peer whose
# certificate belongs to the cluster but names no task may only be a client: the task that it claims to be must not be a member's. A
# certificate that names a client's task is valid for every client of its job, so that a client can open several sessions, each
# over a link of its own. Any other claim is refused with PermissionDenied.
#
# A frame for a number that is bound to no actor is counted and answered by Down.
#
# A link is never resumed. When it is lost, every request without an answer is answered with Unavailable, and every stub goes down.
# What was lost is repeated by repeating steps. A frame that arrives twice (same sequence) is dropped and counted; a gap in the
# sequence closes the link.
@0xd0a52b4d8dd3e6ac;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

using Address = import "cluster.capnp".Address;
using Status = import "status.capnp".Status;

struct Hello {
  # The first frame of either side on each connection, sent once.

  protocol @0 :UInt32;       # version of the link protocol
  ops @1 :UInt64;            # hash of the op table; must be equal, so that graphs mean the same on both sides
  cluster @2 :Text;          # name of the cluster
  task @3 :Text;             # "/job:ps/replica:0/task:0"
  incarnation @4 :UInt64;    # random per start of the process; all frames of this side carry it
  link @5 :UInt64;           # chosen at random by the side that connects; the same on both connections of a link
  bulk @6 :Bool;             # this is the bulk connection
  heartbeat @7 :UInt64;      # nanoseconds; this side sends on the control connection at least this often
  build @9 :Text;            # version of the program: "0.1.0"
  asking @8 :Bool;           # this side only has a question about the cluster: it is not a member, whatever its certificate says
  place @10 :Text;           # where another transport reaches this side, equal for those that reach each other; empty: nowhere. For
                             #   shared memory: boot of the host, user, network namespace; for UCX: its version
  address @11 :Data;         # in the answer on the control connection, if both places are equal: the address for the second
  token @12 :Data;           #   connection, a Unix socket or a UCX worker, and 16 random bytes that open it once
}

struct Goodbye {
  # The last frame of a side that closes the connection on purpose.

  reason @0 :Status;
  ends @1 :Bool;             # whether the node of this side ends, rather than this connection alone
}

struct Bind {
  # From now on frames to `number` are for the actor with this address, which must be an actor of the receiver. The sender chooses
  # the number and never uses it for another actor on this link. The receiver answers with Down at once if there is no such actor.

  number @0 :UInt64;
  actor @1 :Address;
}

struct Down {
  # The actor that this peer bound to `number` has ended. Sent after the actor's last message. Costs one message per actor, none per
  # step.

  number @0 :UInt64;
  reason @1 :Status;
}

# Every request gets one answer, even if its frames are damaged under way. An actor may take any time to answer, and the link does
# not know how long. But a link can find out whether the peer still knows the request:
#
#   node that sent the requests      peer
#     | Audit 17, 23 ----------------->|   on both connections, behind everything sent before
#     |<------------------- Audited 23 |   on the same connection, behind all answers sent before: request 23 is not known here
#
# If the peer does not know a request on either connection, in two audits in a row, then the request or its answer was damaged. The
# request is then answered with DataLoss.

struct Audit {
  # Sent every ten heartbeats while some requests are older than that. Costs two small frames and two small answers.

  round @0 :UInt64;            # number of this audit, counted by the sender
  requests @1 :List(UInt64);   # the sequences of the frames of these requests: the oldest ones, at most a thousand
}

struct Audited {
  # Sent at once as the answer to Audit.

  round @0 :UInt64;
  lost @1 :List(UInt64);       # those of the requests that this side does not know or has already answered
}

struct Heartbeat {
  # Shows that the sender is alive. Sent on the control connection, even while bulk frames are sent, because those may be delayed. A
  # peer counts as dead when it has been silent for five times the longer one of the intervals in the two Hellos.
}
