// RestoredCells: collects the values of cells from the tensors of a checkpoint. A variable may be cut into parts otherwise than
// when it was saved, or not at all: each cell gets its rows from all tensors that have some of them. Used by a file thread
// while it reads the files of a checkpoint. One thread.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "actors/checkpoint/checkpoint_shard.h"
#include "kernels/core/state.h"

namespace troupe {

using Cells = std::map<std::string, std::shared_ptr<StateCell>>;

class RestoredCells {
 public:
  /// `folder` is that of the checkpoint, for errors. Both must outlive this object.
  RestoredCells(const Cells& cells, const std::string& folder);

  /// Returns whether a tensor may have values of a cell.
  bool wants(const ShardFile::Saved& saved) const;
  /// Fails with InvalidArgument if the dtype or the shape of the tensor is not that of the cell.
  Status add(const SavedTensor& tensor);
  /// Returns the values of the cells of which add() got all rows. Fails with InvalidArgument if it got only some rows of a
  /// cell.
  Result<SavedTensors> take();

 private:
  /// A cell, and the rows that it has got.
  struct Target {
    std::shared_ptr<StateCell> cell;
    SavedTensor value;
    std::vector<bool> got;  ///< for each row; empty if the value is a whole tensor of the checkpoint
  };

  Status check(const SavedTensor& tensor, const Target& target) const;
  Status add_rows(const SavedTensor& tensor, Target& target) const;

  const std::string& folder_;
  /// By the names of the variables that are whole, or of which the cells are parts.
  std::multimap<std::string, Target> targets_;
};

}  // namespace troupe
