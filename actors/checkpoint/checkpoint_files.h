// CheckpointFiles: the folders of checkpoints. Each contains one safetensors file per shard, and a manifest with the length and the
// checksum of every file. The manifest is written last: a folder without a complete manifest is not a checkpoint. A folder is
// written once and never changed. The newest checkpoint is the one begun last, whatever its round. Reading trusts nothing in the
// files. The functions block, so only file threads may call them. Only one process may save at a time.
//
//   FOLDER/000007-round-500/shard-00000-of-00002.safetensors
//   FOLDER/000007-round-500/manifest.json       {"checkpoint": {...}, "crc32c": "..."} over the text of the first member
#pragma once

#include "actors/checkpoint/checkpoint_shard.h"

namespace troupe {

struct Manifest {
  uint64_t round = 0;
  std::string note;  ///< whatever else the owner needs to resume; UTF-8
  std::vector<ShardFile> files;
};

class CheckpointFiles {
 public:
  CheckpointFiles(Disk& disk, std::string folder) : disk_(disk), folder_(std::move(folder)) {}

  /// Makes the folder of the next checkpoint and returns its name.
  Result<std::string> begin(uint64_t round) const;
  /// Writes the manifest, which makes the files in the folder a checkpoint. Returns when it is on disk. After a failure the
  /// checkpoint may exist or not.
  Status commit(const std::string& name, const Manifest& manifest) const;
  /// Removes all checkpoints but the newest `keep` (at least 1), and all folders without a manifest.
  Status remove_old(size_t keep) const;
  /// Removes a checkpoint, complete or not.
  Status remove(const std::string& name) const;

  /// Returns the names of the checkpoints, oldest first. Returns none if the folder does not exist.
  Result<std::vector<std::string>> names() const;
  /// Reads a manifest. Fails with NotFound if there is no such checkpoint, and with DataLoss, which names the file and its damage.
  /// After any other failure the checkpoint may be intact.
  Result<Manifest> manifest(const std::string& name) const;
  std::string path(const std::string& name) const { return folder_ + '/' + name; }

 private:
  /// Returns the names of all folders that begin() made, in that order, with or without a manifest.
  Result<std::vector<std::string>> folders() const;
  Result<bool> has_manifest(const std::string& name) const;

  Disk& disk_;
  std::string folder_;
};

}  // namespace troupe
