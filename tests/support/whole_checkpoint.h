// A checkpoint as one value, for tests that have no processes that save or restore, or that compare saved checkpoints.
#pragma once

#include "actors/checkpoint/checkpoint_files.h"

namespace troupe::test {

struct WholeCheckpoint {
  uint64_t round = 0;
  std::string note;
  std::vector<SavedTensor> tensors;
};

/// Saves a checkpoint in this number of files. The newest `keep` checkpoints stay.
Status save(Disk& disk, const std::string& folder, const WholeCheckpoint& checkpoint, size_t keep,
            uint32_t shards = 1, bool pinned = false);
Result<WholeCheckpoint> load(Disk& disk, const std::string& folder, const std::string& name);
/// Loads the newest valid checkpoint and appends what is wrong with newer ones to `skipped`. Fails with NotFound if there is none.
Result<WholeCheckpoint> load_newest(Disk& disk, const std::string& folder, std::vector<std::string>& skipped);
/// Returns the checkpoint with a tensor for each logical variable, in place of its parts.
WholeCheckpoint with_joined_parts(const WholeCheckpoint& checkpoint);

}  // namespace troupe::test
