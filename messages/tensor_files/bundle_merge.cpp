#include <algorithm>
#include <map>

#include "messages/tensor_files/bundle_writer.h"

namespace troupe {
namespace {

class Merge {
 public:
  /// Adds the entries of a checkpoint; their shards are those of the merged one.
  Status add(const std::string& prefix, const BundleIndex& index) {
    const std::map<int, int> shards = add_files(prefix, index);
    for (auto [key, entry] : index.parts) {
      entry.shard = shards.at(entry.shard);
      if (!merged_.parts.emplace(key, std::move(entry)).second)
        return invalid_argument("a part of variable '" + variable_of(key) + "' is in " + prefix +
                                " and in a checkpoint before it");
    }
    for (auto [name, entry] : index.entries) {
      entry.shard = entry.parts.empty() ? shards.at(entry.shard) : 0;
      TROUPE_RETURN_IF_FAILED(add(prefix, name, std::move(entry)));
    }
    return {};
  }

  Status rename(Disk& disk, const std::string& destination) const {
    for (size_t i = 0; i < files_.size(); ++i) {
      const std::string to =
          bundle_data_file(destination, static_cast<int>(i), static_cast<int>(files_.size()));
      TROUPE_RETURN_IF_FAILED(disk.rename(files_[i], to));
    }
    return {};
  }

  BundleIndex take() {
    merged_.shards = std::max(1, static_cast<int>(files_.size()));
    return std::move(merged_);
  }

 private:
  /// Returns the shards of a checkpoint that have bytes of a variable, and what they become.
  std::map<int, int> add_files(const std::string& prefix, const BundleIndex& index) {
    std::map<int, int> shards;
    for (const auto& [key, entry] : index.parts) shards[entry.shard] = 0;
    for (const auto& [name, entry] : index.entries)
      if (entry.parts.empty()) shards[entry.shard] = 0;
    for (auto& [shard, merged] : shards) {
      merged = static_cast<int>(files_.size());
      files_.push_back(bundle_data_file(prefix, shard, index.shards));
    }
    return shards;
  }
  Status add(const std::string& prefix, const std::string& name, BundleEntry entry) {
    const auto [at, is_new] = merged_.entries.try_emplace(name, entry);
    if (is_new) return {};
    BundleEntry& before = at->second;
    if (before.parts.empty() || entry.parts.empty())
      return invalid_argument("variable '" + name + "' is in " + prefix + " and in a checkpoint before it");
    if (before.dtype != entry.dtype || before.shape != entry.shape)
      return invalid_argument("the parts of variable '" + name + "' in " + prefix +
                              " have another type or shape than those before");
    std::ranges::move(entry.parts, std::back_inserter(before.parts));
    return {};
  }

  BundleIndex merged_;
  std::vector<std::string> files_;  ///< the data files, by their shards in the merged checkpoint
};

}  // namespace

Status merge_bundles(Disk& disk, const std::vector<std::string>& prefixes, const std::string& destination,
                     bool allow_missing) {
  if (prefixes.size() > 1 && std::ranges::find(prefixes, destination) != prefixes.end())
    return invalid_argument("checkpoint " + destination + " is to be merged with others into itself");
  Merge merge;
  std::vector<std::string> found;
  for (const std::string& prefix : prefixes) {
    const auto index = BundleIndex::read(disk, prefix);
    const bool is_missing = index.status().code() == Code::NotFound;
    if (is_missing && allow_missing) continue;
    if (is_missing)
      return invalid_argument("the checkpoint to merge does not exist: " + index.status().text());
    if (!index) return index.status();
    TROUPE_RETURN_IF_FAILED(merge.add(prefix, *index));
    found.push_back(prefix);
  }
  if (found.empty()) return invalid_argument("there is no checkpoint to merge into " + destination);
  TROUPE_RETURN_IF_FAILED(make_folders(disk, folder_of(destination)));
  TROUPE_RETURN_IF_FAILED(merge.rename(disk, destination));
  TROUPE_RETURN_IF_FAILED(merge.take().write(disk, destination));
  for (const std::string& prefix : found)
    if (prefix != destination)
      static_cast<void>(disk.remove(bundle_index_file(prefix)));  // it leads nowhere now
  return {};
}

}  // namespace troupe
