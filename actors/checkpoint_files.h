// Checkpoints as files: each a folder named by its round, with one safetensors file per shard and a manifest that has the length
// and checksum of every file and is written last: without a whole manifest there is no checkpoint. Files are read as hostile.
// Used by whoever saves and restores; one writer per folder at a time.
//
//   FOLDER/000000000500/shard-00000-of-00001.safetensors
//   FOLDER/000000000500/manifest.json          {"checkpoint": {...}, "crc32c": "..."} over the text of the first member
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "messages/disk.h"
#include "messages/tensor.h"

namespace troupe {

struct SavedTensor {
  std::string name;
  Tensor value;
  uint64_t version = 0;
};

struct Checkpoint {
  uint64_t round = 0;  ///< names it; a later one of the same round takes its place
  std::string note;    ///< what else the owner must know to go on
  std::vector<SavedTensor> tensors;
};

class CheckpointFiles {
 public:
  /// `keep` of them stay (at least 1), the newest.
  CheckpointFiles(Disk& disk, std::string folder, size_t keep)
      : disk_(disk), folder_(std::move(folder)), keep_(keep) {}

  /// Returns when the checkpoint is whole and on disk. After a failure, those before it are as they were. Unimplemented for a
  /// dtype that safetensors does not know.
  Status save(const Checkpoint& checkpoint) const;

  /// The newest valid one; what is wrong with newer ones is appended to `skipped`. NotFound when there is none, DataLoss when
  /// all are damaged.
  Result<Checkpoint> load_newest(std::vector<std::string>& skipped) const;
  /// DataLoss names the file and what is wrong with it.
  Result<Checkpoint> load(const std::string& name) const;
  /// Names of what may be checkpoints, oldest first.
  Result<std::vector<std::string>> names() const;

 private:
  Status remove_oldest() const;
  Status remove(const std::string& name) const;
  std::string path(const std::string& name) const { return folder_ + '/' + name; }

  Disk& disk_;
  std::string folder_;
  size_t keep_;
};

}  // namespace troupe
