// CheckpointFiles: the folders of checkpoints. Each contains safetensors files, and a manifest with the length and the checksum of
// every file. The manifest is written last: a folder without a complete manifest is not a checkpoint. A checkpoint may refer to
// files in the folders of older ones; such a file outlives its checkpoint until no checkpoint refers to it. A file is written
// once and never changed. The newest checkpoint is the one begun last, whatever its round. Reading trusts nothing in the files.
// The functions block, so only file threads may call them. Only one process may save at a time.
//
//   FOLDER/000007-round-500/shard-00000-of-00002.safetensors
//   FOLDER/000007-round-500/manifest.json       {"checkpoint": {...}, "crc32c": "..."} over the text of the first member
#pragma once

#include <set>

#include "actors/checkpoint/manifest.h"

namespace troupe {

/// The file without which a folder is not a checkpoint.
inline constexpr const char* manifest_name = "manifest.json";

class CheckpointFiles {
 public:
  CheckpointFiles(Disk& disk, std::string folder) : disk_(disk), folder_(std::move(folder)) {}

  /// A checkpoint to whose files the next one may refer.
  struct Base {
    std::string name;
    Manifest manifest;
  };

  /// Returns the newest checkpoint, if all its files are there. Does not read them.
  std::optional<Base> base() const;
  /// Makes the folder of the next checkpoint and returns its name.
  Result<std::string> begin(uint64_t round) const;
  /// Writes the manifest, which makes the files in the folder a checkpoint. Returns when it is on disk. After a failure the
  /// checkpoint may exist or not.
  Status commit(const std::string& name, const Manifest& manifest) const;
  /// Removes all checkpoints but the newest `keep` (at least 1) and those that are pinned, and all folders without a manifest, but
  /// not the files to which those that are kept refer.
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
  /// Removes a checkpoint without the files whose paths are in `used`.
  Status remove(const std::string& name, const std::set<std::string>& used) const;

  Disk& disk_;
  std::string folder_;
};

}  // namespace troupe
