#include "actors/checkpoint/new_manifest.h"

namespace troupe {

NewManifest::NewManifest(uint64_t round, std::string note, bool pinned, const CheckpointFiles::Base* base)
    : manifest_{.round = round, .note = std::move(note), .pinned = pinned} {
  if (!base) return;
  for (const ShardFile& file : base->manifest.files)
    older_.emplace(std::pair(file.folder.empty() ? base->name : file.folder, file.name), file.checksum);
}

Status NewManifest::check(uint32_t shard, uint32_t shards, const ShardFile& file) const {
  const std::string expected = shard_name(shard, shards), steady = shard_name(shard, shards, true);
  if (file.folder.empty() && file.name != expected && file.name != steady)
    return internal("a writer saved " + file.name + " instead of " + expected + " or " + steady);
  if (file.folder.empty()) return {};
  const auto older = older_.find({file.folder, file.name});
  if (older == older_.end() || older->second != file.checksum)
    return internal("a writer refers to " + file.folder + '/' + file.name +
                    ", which the checkpoint before does not have");
  return {};
}

Status NewManifest::add(uint32_t shard, uint32_t shards, ShardFile file) {
  TROUPE_RETURN_IF_FAILED(check(shard, shards, file));
  for (const auto& tensor : file.tensors)
    if (const auto [at, fresh] = file_of_.emplace(tensor.name, file.name); !fresh)
      return already_exists("two processes have a variable " + tensor.name + ": it is in " + at->second +
                            " and in " + file.name);
  manifest_.files.push_back(std::move(file));
  return {};
}

}  // namespace troupe
