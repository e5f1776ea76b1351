// CheckpointV1: reads a checkpoint in TensorFlow's format V1: one file, or several that match a pattern and share its variables
// (saved_slices.h). Files are not trusted. The disk must outlive it. One thread at a time.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "messages/tensor_files/data_blocks.h"
#include "messages/tensor_files/saved_slices.h"

namespace troupe {

class CheckpointV1 {
 public:
  /// Reads which variables the files have. Fails with NotFound if no file matches, DataLoss if one is damaged.
  static Result<CheckpointV1> open(Disk& disk, const std::string& pattern, TensorReading reading = {});

  /// Returns the variable with its parts in all files. Fails with NotFound if there is none.
  Result<const SavedVariable*> find(const std::string& name) const;
  /// Returns a slice of a variable, whatever slices were saved. The lengths of the slice must be given. Fails with NotFound,
  /// InvalidArgument if the slice lies outside the variable, and DataLoss if parts are missing, overlap or do not have their
  /// elements.
  Result<Tensor> read(const std::string& name, const TensorSlice& slice) const;

 private:
  struct Variable {
    SavedVariable saved;
    std::vector<size_t> files;  ///< of each part
  };
  CheckpointV1(std::string pattern, TensorReading reading)
      : pattern_(std::move(pattern)), reading_(reading) {}
  Status add(std::unique_ptr<ReadableFile> bytes, const std::string& file);
  Result<Tensor> read_slice(const std::string& name, const Variable& variable,
                            const TensorSlice& slice) const;

  std::string pattern_;
  TensorReading reading_;
  std::vector<SortedTable> tables_;  ///< by file
  std::map<std::string, Variable> variables_;
};

}  // namespace troupe
