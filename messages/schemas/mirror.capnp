# Mirror: keeps equal copies of the variables of one device, the primary, on a device of another task. An update is acknowledged
# when both have it. When the primary is lost, the client adopts the copies: they become the variables of their device, and steps
# that are placed there use them. Only the variables in the shared container are mirrored. The client that begins a mirror is the
# only one that ends it or adopts it, so the two devices never both own the variables.
#
#   client            mirror source (primary)     actors of variables (primary)      mirror (the other device)
#     | BeginMirror ----->| OpenMirror -------------------------------------------------->|
#     |                   |<------------------------------------------------ MirrorOpened |
#     |                   | MirrorChanged ----------->| MirrorChange (values) ----------->| sets its copies
#     |                   |                           |<--------------- ChangeMirrored    |
#     |                   |<----------- GroupMirrored |                                   |
#     |<----- MirrorBegun |                           |                                   |
#     | AwaitMirrorEnd -->|                           | MirrorChange (update) ----------->| applies the same rule to its copies
#     |                   |                           |<--------------- ChangeMirrored    |
#     |                   |          answers Updated  |                                   |
#     |        the primary is lost:                                                       |
#     | AdoptMirror --------------------------------------------------------------------->| the copies become variables
#     |<---------------------------------------------------------------- MirrorAdopted    |
#
# A mirror that has been adopted refuses further changes with Aborted, so a primary that is alive but unreachable acknowledges no
# update any more. When the mirror is lost, the primary keeps the answers to its updates until the client ends the mirror: the
# client might be about to adopt it. When the client is lost for 10 s, the primary ends the mirror, unless it has been adopted,
# which only the mirror role knows; if that is lost, too, the primary ends the mirror, because otherwise changes would wait for
# ever. When the primary is lost, the copies are kept for 60 s.
#
# Variables that have moved leave nothing behind, because an old value in a later mirror of the same device would replace the
# present one when that mirror is adopted. A primary that has been superseded drops its variables: at once if it is alive, or
# before it gets a mirror of another device, of which it may become the owner. And each attempt of a training, which begins with
# variables that are initialized or restored, has a number that is higher than those before. The client tells it to all tasks
# first (ClaimVariables), which drop the variables that were in mirrors of earlier attempts.
#
# Costs per update: one MirrorChange with the value inputs of the op, not with the values of the variables.
@0xe1f7a2c94b3d5806;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

using Address = import "cluster.capnp".Address;
using Graph = import "graph.capnp".Graph;
using PartialShape = import "tensor.capnp".PartialShape;
using RowSlice = import "tensor.capnp".RowSlice;
using StepId = import "session.capnp".StepId;

struct BeginMirror {
  # Request, answered by MirrorBegun when the mirror has the values of all variables. Fails if the target cannot be reached. A
  # mirror that this device had before ends, in any case.

  mirror @0 :UInt64;           # chosen at random by the client; never 0
  target @1 :Address;          # of the mirror role of the other device
  client @2 :Address;          # an actor of the client
  attempt @3 :UInt64;          # of the training; fails with Aborted if this device takes part in a later one
  targetOwnsNothing @4 :Bool;  # see OpenMirror
}

struct MirrorBegun {}

struct AwaitMirrorEnd {
  # Request, answered by MirrorEnded when the client has ended the mirror or the mirror is lost. Fails with NotFound if this device
  # does not have it.

  mirror @0 :UInt64;
}

struct EndMirror {
  # Request, answered by MirrorEnded. Sent by the client to the mirror source. Has no effect if the mirror has ended before.

  mirror @0 :UInt64;
  adopted @1 :Bool;            # the mirror was adopted: the variables that it has are dropped here
}

struct MirrorEnded {
  lost @0 :Bool;               # the mirror is lost; until the client ends it, no change is acknowledged
}

struct MirrorLost {
  # Not a request. Sent, within a process, to the mirror source by the actor of a variable: its change could not be mirrored.

  mirror @0 :UInt64;
}

struct OpenMirror {
  # Request, answered by MirrorOpened. Sent by the mirror source to the mirror role. Fails with ResourceExhausted if the device
  # keeps too many mirrors, and with Aborted if it takes part in a later attempt.

  mirror @0 :UInt64;
  source @1 :Address;          # the sender
  attempt @2 :UInt64;
  # The device has no variable of the attempt. Those that were in mirrors of it before, except adopted ones, have moved away, and
  # are dropped. (It may have adopted some since the client sent this.)
  ownsNothing @3 :Bool;
}

struct MirrorOpened {}

struct MirrorExpired {
  # Not a request. Sent by the clock to the mirror source or the mirror role in its own process: the time has passed for which a
  # mirror outlives its client or its primary.

  mirror @0 :UInt64;
}

struct MirrorChange {
  # Request, answered by ChangeMirrored. Fails with Aborted if the mirror has ended, or if a stream of higher rank has sent the
  # cells. The attachments are the values of the cells, or the value inputs of the op, in order.

  mirror @0 :UInt64;
  stream @1 :UInt64;           # of one actor
  sequence @2 :UInt64;         # 1, 2, ... in a stream; the mirror applies the changes in this order
  rank @3 :UInt64;             # of the stream: higher than those of all actors that owned its cells before
  union {
    values @4 :List(MirroredValue);
    update @5 :MirroredUpdate; # of cells that the stream has sent before
  }
}

struct MirroredValue {
  cell @0 :UInt32;             # the number of the cell on the primary
  name @1 :Text;
  dtype @2 :UInt8;             # troupe::DType
  shape @3 :PartialShape;      # as declared
  version @4 :UInt64;
  slice @5 :RowSlice;          # absent if the variable is no part of a larger one
}

struct MirroredUpdate {
  # The fields of Update (variable.capnp), with the rule as a graph: one node, and a placeholder for each of its inputs.

  step @0 :StepId;
  rule @1 :Graph;              # the last node is the rule
  cells @2 :List(UInt32);      # numbers on the primary
  counter @3 :Int64 = -1;
  count @4 :Int64;
}

struct ChangeMirrored {}

struct ClaimVariables {
  # Request, answered by VariablesClaimed. Sent by the client to the mirror role of every task, before it opens the session that
  # initializes or restores the variables. If the attempt is later than those that the device knows, the variables that were in
  # mirrors are dropped.

  attempt @0 :UInt64;          # 0: only asks
}

struct VariablesClaimed {
  attempt @0 :UInt64;          # the latest one that the device knows
}

struct AdoptMirror {
  # Request, answered by MirrorAdopted when all changes that have arrived are applied. Sent by the client to the mirror role. The
  # copies become variables of the device, in place of variables of the same names. A repeated request gets the same answer. Fails
  # with NotFound if there is no such mirror.

  mirror @0 :UInt64;
}

struct MirrorAdopted {
  variables @0 :UInt32;
}

struct DropMirror {
  # Request, answered by MirrorDropped. Sent by the mirror source to the mirror role. The copies are dropped. Fails with Aborted if
  # the mirror has been adopted; has no effect if there is no such mirror.

  mirror @0 :UInt64;
}

struct MirrorDropped {}
