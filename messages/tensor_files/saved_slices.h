// SavedSlices: a file of a checkpoint in TensorFlow's format V1, which is a sorted table. Under the key "" it says which slices
// of which variables the file has; each slice has an entry with its elements under its slice key. Plain values; any thread that
// may block. Source: tensorflow/core/util/saved_tensor_slice.proto.
#pragma once

#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "messages/env/disk.h"
#include "messages/tensor_files/sorted_table.h"
#include "messages/tensor_files/tensor_slice.h"

namespace troupe {

/// A variable in one file.
struct SavedVariable {
  DType dtype = DType::Invalid;
  Shape shape;                     ///< of the whole variable
  std::vector<TensorSlice> parts;  ///< those that the file has, as they were written (TensorSlice::all)
};

/// Reads which variables a file has. Fails with DataLoss, naming the file, if it is damaged.
Result<std::map<std::string, SavedVariable>> read_saved_variables(const SortedTable& table,
                                                                  const std::string& file);

/// Reads the elements of a slice that the file has. Fails with DataLoss if the entry is missing or does not have these elements.
Result<Tensor> read_saved_slice(const SortedTable& table, const std::string& name,
                                const SavedVariable& variable, const TensorSlice& part, Allocator& memory);

/// A tensor to save: a whole variable, or a slice of one, which has the shape of the slice.
struct SliceToSave {
  std::string name;
  Shape shape;        ///< of the whole variable
  TensorSlice slice;  ///< as it is written
  Tensor tensor;
};
/// Writes a file that appears when it is complete and durable. Fails with InvalidArgument if the slices contradict each other
/// or are too large for the format (2 GiB), with Unimplemented for types that it does not have, and with Cancelled once the
/// flag is set.
Status write_saved_slices(Disk& disk, const std::string& path, const std::vector<SliceToSave>& slices,
                          const std::atomic<bool>* cancelled = nullptr);

}  // namespace troupe
