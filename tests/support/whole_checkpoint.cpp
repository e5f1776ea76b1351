#include "tests/support/whole_checkpoint.h"

#include <algorithm>
#include <cstring>

namespace troupe::test {

Status save(Disk& disk, const std::string& folder, const WholeCheckpoint& checkpoint, size_t keep,
            uint32_t shards, bool pinned) {
  const CheckpointFiles files(disk, folder);
  TROUPE_ASSIGN(const std::string name, files.begin(checkpoint.round));
  Manifest manifest{.round = checkpoint.round, .note = checkpoint.note, .pinned = pinned};
  const std::span tensors(checkpoint.tensors);
  for (uint32_t shard = 0; shard < shards; ++shard) {
    const size_t begin = tensors.size() * shard / shards, end = tensors.size() * (shard + 1) / shards;
    TROUPE_ASSIGN(auto file, write_shard(disk, files.path(name), shard_name(shard, shards),
                                         tensors.subspan(begin, end - begin)));
    manifest.files.push_back(std::move(file));
  }
  TROUPE_RETURN_IF_FAILED(files.commit(name, manifest));
  return files.remove_old(keep);
}

Result<WholeCheckpoint> load(Disk& disk, const std::string& folder, const std::string& name) {
  const CheckpointFiles files(disk, folder);
  TROUPE_ASSIGN(Manifest manifest, files.manifest(name));
  WholeCheckpoint checkpoint{manifest.round, std::move(manifest.note), {}};
  for (const ShardFile& file : manifest.files) {
    TROUPE_ASSIGN(auto tensors, read_shard(disk, files.path(name), file, [](const auto&) { return true; }));
    std::ranges::move(tensors, std::back_inserter(checkpoint.tensors));
  }
  return checkpoint;
}

WholeCheckpoint with_joined_parts(const WholeCheckpoint& checkpoint) {
  WholeCheckpoint result{checkpoint.round, checkpoint.note, {}};
  for (const SavedTensor& part : checkpoint.tensors) {
    if (!part.slice) {
      result.tensors.push_back(part);
      continue;
    }
    auto whole = std::ranges::find(result.tensors, part.slice->of, &SavedTensor::name);
    if (whole == result.tensors.end()) {
      std::vector<int64_t> dims(part.value.shape().dims().begin(), part.value.shape().dims().end());
      dims[0] = part.slice->rows;
      const Shape shape = value_or_throw(Shape::make(dims, part.value.dtype()));
      result.tensors.push_back(
          {part.slice->of, value_or_throw(Tensor::allocate(part.value.dtype(), shape)), part.version});
      whole = std::prev(result.tensors.end());
    }
    const size_t row = part.value.bytes() / static_cast<size_t>(part.slice->count);
    for (int64_t i = 0; i < part.slice->count; ++i)
      std::memcpy(whole->value.mutable_data() + static_cast<size_t>(part.slice->row(i)) * row,
                  part.value.data() + static_cast<size_t>(i) * row, row);
  }
  return result;
}

Result<WholeCheckpoint> load_newest(Disk& disk, const std::string& folder,
                                    std::vector<std::string>& skipped) {
  TROUPE_ASSIGN(const auto names, CheckpointFiles(disk, folder).names());
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    auto checkpoint = load(disk, folder, *name);
    if (checkpoint.status().code() != Code::DataLoss) return checkpoint;
    skipped.push_back(checkpoint.status().text());
  }
  return not_found("there is no valid checkpoint in " + folder);
}

}  // namespace troupe::test
