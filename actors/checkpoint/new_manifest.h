// NewManifest: the manifest of a checkpoint that is being saved, made of what the writers answer. Owned by the request of the
// coordinator that saves. One thread.
#pragma once

#include <map>

#include "actors/checkpoint/checkpoint_files.h"

namespace troupe {

class NewManifest {
 public:
  NewManifest() = default;
  /// `base` is the checkpoint to whose files the new one may refer; null if there is none.
  NewManifest(uint64_t round, std::string note, bool pinned, const CheckpointFiles::Base* base);

  /// Adds a file of a writer. Fails with AlreadyExists if two writers have a variable of one name, and with Internal if the
  /// writer had no reason to name this file.
  Status add(uint32_t shard, uint32_t shards, ShardFile file);
  const Manifest& manifest() const { return manifest_; }

 private:
  Status check(uint32_t shard, uint32_t shards, const ShardFile& file) const;

  Manifest manifest_;
  /// The checksums of the files of the base, by folder and name.
  std::map<std::pair<std::string, std::string>, uint32_t> older_;
  std::map<std::string, std::string> file_of_;  ///< by the name of a variable
};

}  // namespace troupe
