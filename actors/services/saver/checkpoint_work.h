// Checkpoint work: what a saver does on the file thread. Functions without state that block; the caller owns the request.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "messages/env/disk.h"
#include "messages/values/tensor.h"

namespace troupe {

enum class CheckpointFormat : uint8_t { V1, V2 };

struct NamedSlice {
  std::string name;
  std::string slice;  ///< in the form of SliceSpec; empty: the whole variable
  DType dtype = DType::Invalid;
};

struct CheckpointRequest {
  CheckpointFormat format = CheckpointFormat::V2;
  std::string path;
  std::vector<NamedSlice> slices;
  std::vector<Tensor> tensors;  ///< those to save, one for each slice
  const std::atomic<bool>* cancelled = nullptr;
};

/// Writes the tensors. Fails as TensorsSaved says.
Status save_tensors(Disk& disk, const CheckpointRequest& request);
/// Returns the tensors, in memory of the allocator. Fails as TensorsRestored says.
Result<std::vector<Tensor>> restore_tensors(Disk& disk, const CheckpointRequest& request, Allocator& memory);
/// Removes the folders of the prefixes that are empty, except for that of the destination.
void remove_old_folders(Disk& disk, const std::vector<std::string>& prefixes, const std::string& destination);

}  // namespace troupe
