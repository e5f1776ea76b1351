# Checkpoint: one coordinator per job, one writer per process that owns state. A checkpoint is a folder: one file per shard
# (the state of one process) and a manifest with their checksums, written last; without a manifest there is none.
#
#   chief                    coordinator                  writers
#     | SaveCheckpoint ---------->| SaveShard --------------->| reads its variable groups, writes, fsyncs
#     |                           |<------------- ShardSaved -|
#     |<----- CheckpointSaved ----| writes the manifest, fsyncs, renames, drops old ones
#
# Between two rounds only: the caller sees to it that nothing changes the state meanwhile. A writer lost in between makes the
# save fail, and leaves the checkpoint before as the newest.
@0xa22b9f6b35e9cc32;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

using TensorMeta = import "tensor.capnp".TensorMeta;

struct SaveCheckpoint {
  # Request -> CheckpointSaved. One at a time; a second one waits.

  round @0 :UInt64;          # names the checkpoint
  note @1 :Data;             # what else the caller must know to go on, kept as it is
}

struct CheckpointSaved {
  folder @0 :Text;
}

struct RestoreCheckpoint {
  # Request -> CheckpointRestored. Every file is read and checked whole before any variable changes.

  folder @0 :Text;           # empty: the newest valid one
}

struct CheckpointRestored {
  # Or a failure: NotFound: there is none; DataLoss: names the file and what is wrong with it
  folder @0 :Text;
  round @1 :UInt64;
  note @2 :Data;
  skipped @3 :List(Text);    # newer ones that were damaged, and how
}

struct SaveShard {
  # Request -> ShardSaved. coordinator -> writer. The file appears under its name only when it is whole and on disk.

  folder @0 :Text;
  shard @1 :UInt32;
  shards @2 :UInt32;
  round @3 :UInt64;
}

struct ShardSaved {
  file @0 :ShardFile;
}

struct ShardFile {
  name @0 :Text;             # in the folder
  bytes @1 :UInt64;
  checksum @2 :Data;
  tensors @3 :List(Saved);
}

struct Saved {
  name @0 :Text;
  meta @1 :TensorMeta;
}

struct RestoreShard {
  # Request -> ShardRestored. coordinator -> writer, which takes from the file what its variables need.

  folder @0 :Text;
  file @1 :ShardFile;
}

struct ShardRestored {
  restored @0 :List(Text);   # names of variables
}
