// The folders of checkpoints: each has one safetensors file per shard and a manifest that has the length and checksum of every
// file and is written last: without a whole manifest there is no checkpoint. A folder is written once and never changed; the
// newest is the one begun last, whatever its round. Files are read as hostile. Calls block: file threads only; one who saves at
// a time.
//
//   FOLDER/000007-round-500/shard-00000-of-00002.safetensors
//   FOLDER/000007-round-500/manifest.json       {"checkpoint": {...}, "crc32c": "..."} over the text of the first member
#pragma once

#include "actors/checkpoint/checkpoint_shard.h"

namespace troupe {

struct Manifest {
  uint64_t round = 0;
  std::string note;  ///< what else the owner must know to go on; UTF-8
  std::vector<ShardFile> files;
};

class CheckpointFiles {
 public:
  CheckpointFiles(Disk& disk, std::string folder) : disk_(disk), folder_(std::move(folder)) {}

  /// Makes the folder of the next checkpoint; returns its name.
  Result<std::string> begin(uint64_t round) const;
  /// Makes a checkpoint of the files that lie in its folder. Returns when it is on disk; after a failure it may be there or not.
  Status commit(const std::string& name, const Manifest& manifest) const;
  /// Removes all but the newest `keep` (at least 1), and what was begun and never committed.
  Status remove_old(size_t keep) const;
  /// Removes a checkpoint, or what there is of it.
  Status remove(const std::string& name) const;

  /// Names of those that have a manifest, oldest first; none when there is no folder.
  Result<std::vector<std::string>> names() const;
  /// NotFound; DataLoss names the file and what is wrong with it; any other failure is not the checkpoint's.
  Result<Manifest> manifest(const std::string& name) const;
  std::string path(const std::string& name) const { return folder_ + '/' + name; }

 private:
  /// What begin() made, whatever became of it; in that order.
  Result<std::vector<std::string>> folders() const;
  Result<bool> has_manifest(const std::string& name) const;

  Disk& disk_;
  std::string folder_;
};

}  // namespace troupe
