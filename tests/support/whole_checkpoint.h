// A checkpoint as one value, for tests that have no processes to save or to restore, or compare what runs have saved.
#pragma once

#include "actors/checkpoint/checkpoint_files.h"

namespace troupe::test {

struct WholeCheckpoint {
  uint64_t round = 0;
  std::string note;
  std::vector<SavedTensor> tensors;
};

/// In so many files; `keep` stay.
Status save(Disk& disk, const std::string& folder, const WholeCheckpoint& checkpoint, size_t keep,
            uint32_t shards = 1);
Result<WholeCheckpoint> load(Disk& disk, const std::string& folder, const std::string& name);
/// The newest valid one; what is wrong with newer ones is appended to `skipped`. NotFound when there is none.
Result<WholeCheckpoint> load_newest(Disk& disk, const std::string& folder, std::vector<std::string>& skipped);

}  // namespace troupe::test
