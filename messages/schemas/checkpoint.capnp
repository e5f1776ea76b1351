# Checkpoint: a checkpoint is a folder with one file per shard (the state of one process) and a manifest with the checksums of these
# files. The manifest is written last: a folder without a manifest is not a checkpoint. Each task has a coordinator and a writer; a
# session uses the coordinator of one task and the writers of all its tasks. All processes must see the same files. No handler
# touches a file: file threads do. `container` always names the container whose state is meant (worker.capnp); files contain the
# plain names of variables.
#
#   session                  coordinator                  writers                       variable roles
#     | HoldState --------------->| HoldShard ----------------->| Read ---------------------->|
#     |<-------------- StateHeld  |<---------------- ShardHeld -| keeps the values            |
#     | SaveCheckpoint ---------->| makes the folder            |                             |
#     |                           | SaveShard ----------------->| writes, fsyncs, renames     |
#     |                           |<--------------- ShardSaved -|                             |
#     |<------- CheckpointSaved --| writes the manifest, fsyncs, renames, removes old ones    |
#     |                           |                             |                             |
#     | RestoreCheckpoint ------->| reads the newest manifest   |                             |
#     |                           | ReadShards ---------------->| reads and checks the files  |
#     |                           |<--------------- ShardsRead -|                             |
#     |                           | (damaged: the next older)   |                             |
#     |                           | ApplyShards --------------->| Assign -------------------->|
#     |                           |<------------ ShardsApplied -|                             |
#     |<---- CheckpointRestored --|
#
# A variable that has not changed since the newest checkpoint in the folder is not written again: the new checkpoint refers to the
# file that has it. A writer knows that by the versions of its cells: it remembers which values the last checkpoint has that it
# saved or restored. An older file is used as long as half of its bytes are current. A file is removed when no checkpoint that is
# kept refers to it.
#
# The session holds and restores the state between two training rounds only: it must make sure that nothing changes the state
# meanwhile. If something does, the values of each group of variables (variable.capnp) still come from one moment, but those of
# different groups may come from different moments. Once the state is held, training goes on while the files are written: an
# update of a value that is held is made in other memory. The coordinator saves and restores one at a time, in order. If a writer
# is lost during a save or a restore, that save or restore fails. After a failed save the previous checkpoint is still the newest
# one. A restore that fails before ApplyShards leaves every variable unchanged; one that fails later leaves only the variables of
# the lost process without their values, and that process has lost them anyway. If the coordinator is lost, a save that has not
# written its manifest has no effect, and a restore must be repeated.
@0xa22b9f6b35e9cc32;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

using Address = import "cluster.capnp".Address;
using RowSlice = import "tensor.capnp".RowSlice;

struct HoldState {
  # Request, answered by StateHeld. Sent by a session to the coordinator. Costs one message per process and one per group of
  # variables, and, until the state is saved, up to its bytes of memory. A writer holds two states at most: a third one takes the
  # place of the first.

  state @0 :UInt64;          # chosen at random by the session; never 0
  writers @1 :List(Address); # as in SaveCheckpoint
  container @2 :Text;
  variables @3 :List(HeldVariable);
}

struct HeldVariable {
  # A variable to save, if it has a value.

  name @0 :Text;
  task @1 :Text;             # saved only where it is on a task that this names: "/job:worker", or "", which names all
}

struct StateHeld {}

struct HoldShard {
  # Request, answered by ShardHeld. Sent by the coordinator to a writer.

  state @0 :UInt64;
  container @1 :Text;
  variables @2 :List(HeldVariable);
}

struct ShardHeld {
  values @0 :UInt32;         # of how many variables a value is held
}

struct SaveCheckpoint {
  # Request, answered by CheckpointSaved. Sent by a session to the coordinator. Costs one message per process and writing the bytes
  # to the disk.

  folder @0 :Text;           # the folder that contains the checkpoints; created if it does not exist
  round @1 :UInt64;          # the training round of the state; the newest checkpoint is the one saved last, whatever its round
  note @2 :Text;             # whatever else the caller needs to resume; stored unchanged
  keep @3 :UInt32;           # how many checkpoints to keep, the newest ones, beside those that are pinned; 0 counts as 1
  writers @4 :List(Address); # the writers of the processes whose state is saved
  container @5 :Text;
  master @6 :Address;        # the session's master, on the coordinator's node: once it has ended, the state may be partly gone
  state @7 :UInt64;          # the state to save, which is held; 0: the present one, of all variables
  unhurried @8 :Bool;        # the threads that write rest in between, so that training hardly becomes slower meanwhile
  pinned @9 :Bool;           # the checkpoint is kept however many newer ones there are
}

struct CheckpointSaved {
  # Fails with Aborted if a writer does not hold the state any more; with AlreadyExists if two processes have a variable of one
  # name; with Cancelled if the session ended meanwhile, and then there is no such checkpoint; with ResourceExhausted if the disk is
  # full; with Unimplemented if safetensors files cannot hold the dtype of a variable; and with any failure of the disk or of a
  # writer.

  folder @0 :Text;           # the folder of this checkpoint
  problem @1 :Text;          # why old checkpoints could not be removed; empty if they were removed
}

struct RestoreCheckpoint {
  # Request, answered by CheckpointRestored. Sent by a session to the coordinator. Every file is read and checked completely before
  # any variable changes. Each process takes the values of its own variables; the number of processes may differ from the number
  # that saved.

  folder @0 :Text;           # the folder that contains the checkpoints
  name @1 :Text;             # the name of the checkpoint to restore; empty: the newest valid one
  writers @2 :List(Address); # the writers of the processes whose variables are restored
  container @3 :Text;
}

struct CheckpointRestored {
  # Fails with NotFound if there is no checkpoint, or it contains none of the session's variables; with DataLoss, which names the
  # file and its damage; with InvalidArgument, which names a variable whose dtype or shape differs from the saved one.

  folder @0 :Text;           # the folder of the checkpoint that was restored
  round @1 :UInt64;
  note @2 :Text;
  skipped @3 :List(Text);    # the newer checkpoints that are damaged, each with its damage
  missing @4 :List(Text);    # the variables that the checkpoint does not contain; they keep their values
}

struct SaveShard {
  # Request, answered by ShardSaved. Sent by the coordinator to a writer. The file gets its name only when it is complete and on
  # disk.

  folder @0 :Text;           # the folder of the checkpoint
  shard @1 :UInt32;
  shards @2 :UInt32;
  container @3 :Text;
  state @4 :UInt64;          # the state that is held, and then not any more; 0: the present one
  base @5 :Text;             # the folder of the checkpoint to whose files this one may refer; absent if there is none
  unhurried @6 :Bool;        # as in SaveCheckpoint
}

struct ShardSaved {
  files @0 :List(ShardFile); # none if no variable of the process has a value; one that has changed variables, one that has variables
                             # that did not change, but whose older file is mostly outdated, and files to which `base` refers, too
}

struct ShardFile {
  name @0 :Text;             # the file's name in the folder of its checkpoint
  bytes @1 :UInt64;
  checksum @2 :UInt32;       # CRC-32C of the file
  tensors @3 :List(Saved);
  folder @4 :Text;           # the name of the older checkpoint that the file belongs to; empty: it belongs to this one
}

struct Saved {
  name @0 :Text;
  version @1 :UInt64;
  slice @2 :RowSlice;           # absent if the tensor is no part of a larger one
}

struct ReadShards {
  # Request, answered by ShardsRead. Sent by the coordinator to a writer, which reads the values of its variables and keeps them for
  # ApplyShards. Every file is read by at least one writer: writer number i modulo `writers` reads file i.

  folder @0 :Text;           # the folder of the checkpoint
  files @1 :List(ShardFile);
  writer @2 :UInt32;         # the number of this writer
  writers @3 :UInt32;        # how many writers there are
  container @4 :Text;
}

struct ShardsRead {
  # Fails as CheckpointRestored does.

  missing @0 :List(Text);    # the variables of this process that are in none of the files
  found @1 :UInt32;          # how many variables of this process are in one of the files
}

struct ApplyShards {
  # Request, answered by ShardsApplied. Sent by the coordinator to each writer when all writers have read. Fails with Aborted if the
  # writer has read another checkpoint since.

  folder @0 :Text;
  container @1 :Text;
}

struct ShardsApplied {
}

struct DropShards {
  # Not a request. Sent by the coordinator to a writer when another writer failed: the writer forgets what it has read.
}
