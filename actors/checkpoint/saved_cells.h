// SavedCells: where a checkpoint has the values of the cells of a process. The next checkpoint refers to the files of those that
// have not changed since. A cell changes when its version does: the owner makes a new object when versions may have gone back, as
// when cells are restored. Owned by the checkpoint writer; one thread.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "actors/checkpoint/checkpoint_shard.h"

namespace troupe {

/// A file, and the values that a checkpoint has in it.
struct SavedFile {
  ShardFile file;
  SavedTensors tensors;
};

class SavedCells {
 public:
  SavedCells() = default;
  explicit SavedCells(std::string checkpoint) : checkpoint_(std::move(checkpoint)) {}

  /// Returns where a checkpoint with these files has the values of cells that were restored from it. A value that was put together
  /// from parts is nowhere as it is.
  static SavedCells restored(std::string checkpoint, const std::vector<ShardFile>& files,
                             const SavedTensors& tensors);

  /// Returns the folder of the checkpoint; empty if none is known.
  const std::string& checkpoint() const { return checkpoint_; }

  /// Says that a file that the checkpoint lists has the values of these cells.
  void add(const ShardFile& file, const SavedTensors& tensors);

  struct Plan {
    SavedTensors changed;          ///< to be written
    SavedTensors steady;           ///< to be written: unchanged, but their older files are mostly outdated
    std::vector<SavedFile> older;  ///< to be referred to
  };
  /// Returns how to save these values in the checkpoint after this one.
  Plan plan(const SavedTensors& values) const;

 private:
  struct Place {
    uint64_t version = 0;
    std::shared_ptr<const ShardFile> file;  ///< with its folder, without tensors
  };
  /// Returns the file that has this value, or null.
  const ShardFile* find(const SavedTensor& value) const;

  std::string checkpoint_;
  std::unordered_map<uint32_t, Place> places_;  ///< by the number of a cell
};

}  // namespace troupe
