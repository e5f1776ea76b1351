# Checkpoint: one coordinator per job, one writer per process that owns state. A checkpoint is a folder: one file per shard
# (the state of one process) and a manifest with their checksums, written last; without a manifest there is none. All processes
# see the same files. No handler touches one: file threads do. `container` says everywhere whose state it is (worker.capnp); files
# know variables by their plain names.
#
#   session                  coordinator                  writers                       variable roles
#     | SaveCheckpoint ---------->| makes the folder            |                             |
#     |                           | SaveShard ----------------->| Read ---------------------->|
#     |                           |                             | writes, fsyncs, renames     |
#     |                           |<--------------- ShardSaved -|                             |
#     |<------- CheckpointSaved --| writes the manifest, fsyncs, renames, drops old ones      |
#     |                           |                             |                             |
#     | RestoreCheckpoint ------->| reads the newest manifest   |                             |
#     |                           | ReadShards ---------------->| reads and checks the files  |
#     |                           |<--------------- ShardsRead -|                             |
#     |                           | (damaged: the next older)   |                             |
#     |                           | ApplyShards --------------->| Assign -------------------->|
#     |                           |<------------ ShardsApplied -|                             |
#     |<---- CheckpointRestored --|
#
# Between two rounds only: the caller sees to it that nothing changes the state meanwhile. If something does, the values of each
# group of variables (variable.capnp) are still from one moment, those of several groups from several. Requests to the coordinator are carried
# out one at a time, in order. A writer lost in between makes the save or the restore fail. A save that fails leaves the checkpoint
# before as the newest; a restore that fails before ApplyShards leaves every variable as it was, and after that makes those of the
# lost process only differ, which has lost them anyway. When the coordinator is lost, a save that had no manifest never happened,
# and a restore is to be repeated.
@0xa22b9f6b35e9cc32;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

using Address = import "cluster.capnp".Address;

struct SaveCheckpoint {
  # Request -> CheckpointSaved. session -> coordinator. Costs a message per process and one per group of variables, and the bytes
  # to the disk.

  folder @0 :Text;           # where checkpoints lie; made when it is not there
  round @1 :UInt64;          # that the state is of; the newest is the one saved last, whatever its round
  note @2 :Text;             # what else the caller must know to go on, kept as it is
  keep @3 :UInt32;           # so many stay, the newest; 0 counts as 1
  writers @4 :List(Address); # of the processes whose state it is
  container @5 :Text;
  master @6 :Address;        # of the session, on the coordinator's node: once it has ended, its state may be half gone
}

struct CheckpointSaved {
  # Or a failure: AlreadyExists: two processes have a variable of the same name; Cancelled: the session ended meanwhile, and there
  # is no such checkpoint; ResourceExhausted: the disk is full;
  # Unimplemented: a variable's dtype has no place in the files; whatever the disk or a writer says

  folder @0 :Text;           # of this checkpoint
  problem @1 :Text;          # why old ones could not be removed; empty: they are gone
}

struct RestoreCheckpoint {
  # Request -> CheckpointRestored. Every file is read and checked whole before any variable changes. Each process takes what its
  # variables need, however many processes there were.

  folder @0 :Text;           # where checkpoints lie
  name @1 :Text;             # of the one wanted; empty: the newest valid one
  writers @2 :List(Address); # of the processes whose variables it is for
  container @3 :Text;
}

struct CheckpointRestored {
  # Or a failure: NotFound: there is none, or it has no variable that the session has, too; DataLoss: names the file and what is
  # wrong with it; InvalidArgument: names a variable of another dtype or shape

  folder @0 :Text;           # of the one used
  round @1 :UInt64;
  note @2 :Text;
  skipped @3 :List(Text);    # newer ones that were damaged, and how
  missing @4 :List(Text);    # variables that it does not have: they are as they were
}

struct SaveShard {
  # Request -> ShardSaved. coordinator -> writer. The file appears under its name only when it is whole and on disk.

  folder @0 :Text;           # of the checkpoint
  shard @1 :UInt32;
  shards @2 :UInt32;
  container @3 :Text;
}

struct ShardSaved {
  file @0 :ShardFile;        # none when the process has no values
}

struct ShardFile {
  name @0 :Text;             # in the folder
  bytes @1 :UInt64;
  checksum @2 :UInt32;       # CRC-32C of the file
  tensors @3 :List(Saved);
}

struct Saved {
  name @0 :Text;
  version @1 :UInt64;
}

struct ReadShards {
  # Request -> ShardsRead. coordinator -> writer, which reads what its variables need and keeps it for ApplyShards. Every file is
  # read by one writer at least: file i by writer i modulo their number.

  folder @0 :Text;           # of the checkpoint
  files @1 :List(ShardFile);
  writer @2 :UInt32;
  writers @3 :UInt32;
  container @4 :Text;
}

struct ShardsRead {
  # Or a failure, as for CheckpointRestored

  missing @0 :List(Text);    # variables of this process that are in none of the files
  found @1 :UInt32;          # how many are in one
}

struct ApplyShards {
  # Request -> ShardsApplied, or Aborted: something else was read since. coordinator -> writer, when all have read.

  folder @0 :Text;
  container @1 :Text;
}

struct ShardsApplied {
}

struct DropShards {
  # coordinator -> writer, when another failed: what was read is not needed. Not a request.
}

struct FilesDone {
  # file thread -> coordinator or writer, in its own process: work with files is over. Not a request.

  job @0 :UInt64;            # counted by the role
}
