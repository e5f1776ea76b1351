# Variable: the only actor that changes the variables of one group; each group has its own actor. Requests come from executors (for
# ops), from the checkpoint writer and from the replicas role. Requests for the same cell are carried out in the order of arrival,
# each as a whole: two updates of three cells never mix. Requests for different groups are carried out at the same time. A reader in
# the same process reads the published snapshot and sends no message. A cell is named by its number in the state of its task,
# independent of its container. When the actor is lost in the middle of a change, the values of its group are lost; a restore brings
# back those that a checkpoint contains.
#
# A cell begins in a group of its own. A request for cells of several groups joins these groups permanently before it is sent: from
# then on all requests for their cells go to the actor of one group, which takes the cells over from the other actors.
#
#   sender of the request         actor of one group             actor of another group
#     | GroupChanged ---------------->| Release --------------------->| finishes the requests received before
#     | the request ----------------->| keeps it                      | forwards those received later
#     |                               |<-------------------- Released |
#     |<---------------------- answer | carries out what it kept      | ends when no sender can reach it any more
#
# A group may have a mirror on another node (mirror.capnp). Then requests that change cells are answered when the mirror has the
# change, too.
#
# If an actor ends before it has released its cells, their values are still there, unless it was changing one of them: then the
# joined group is lost. Its unanswered requests are answered with Unavailable. A successor of the actor in the middle sends Release
# again.
@0xd5306772645cbbc2;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

using StepId = import "session.capnp".StepId;

struct GroupChanged {
  # Not a request. Sent, within a process, to the actor of a group by the code that joins groups or replaces the actor of one. The
  # cells of the group, and the actors that have to release some of them, are in the group object that both share. The message
  # arrives before any request for a cell that is new to the actor.
}

struct Release {
  # Request, answered by Released. Sent, within a process, by the actor of a group to the actor of a group that was joined with it.
}

struct Released {
  # The sender has carried out all requests received before and does not change the cells any more. A failure means that it has
  # ended.
}

struct Update {
  # Request, answered by Updated. An op that changes cells: Assign, AssignAdd, ScatterSub, ApplyAdam. Fails with FailedPrecondition
  # if a cell that the op reads has no value yet. Attachments: the value inputs of the op, in order. Costs one message per op and
  # step.

  step @0 :StepId;
  rule @1 :UInt64;             # the number that the device gave the prepared op when its partition was registered
  cells @2 :List(UInt32);      # the cells of its ref inputs, in order
  counter @3 :Int64 = -1;      # not -1: the cell of an int64 scalar that changes together with these
  count @4 :Int64;             # the new value of the counter
  unlocked @5 :UInt64;         # not 0: the number of the unlocked phase of the step (RunStep)
}

struct Updated {
  # Attachments: of an op that counts (CountUpTo), the value before the update; of any other, none.

  versions @0 :List(UInt64);   # of each cell of the request, after the update; the counter is the last
}

struct UpdateApplied {
  # Not a request. Sent by the compute pool to the variable role in its own process: an update that is too large for a handler has
  # been computed.

  update @0 :UInt64;           # the number that the variable role gave to the update
}

struct Assign {
  # Request, answered by Updated. Sets whole cells, as restoring does; carried out in order with the Updates of the same cells.
  # Attachments: one value per cell. Sets all cells or none, because the cells are one group.

  cells @0 :List(UInt32);
  versions @1 :List(UInt64);   # the new versions of the cells; empty: one more than before
}

struct Read {
  # Request, answered by ReadDone. For readers in other processes, and for readers that arrive while a value is being changed in
  # place.

  step @0 :StepId;
  cells @1 :List(UInt32);
  versions @2 :List(UInt64);   # the answer waits until each cell has at least this version; empty: no waiting
}

struct ReadDone {
  # Attachments: the values. All come from one moment, because the cells are one group. Updates may happen between the answers for
  # different groups.

  versions @0 :List(UInt64);
}

struct MirrorChanged {
  # Request, answered by GroupMirrored. Sent, within a process, by the mirror source role to the actor of a group when the mirror of
  # the device begins or ends. The actor sends its values to the new mirror. Changes that a lost mirror has not acknowledged are
  # answered, because the client of the mirror has given it up.
}

struct GroupMirrored {
  # The mirror has the values of all cells of the group.
}
