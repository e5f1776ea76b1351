// Checkpoint shard: one file of a checkpoint, with named tensors in the safetensors layout. A file gets its name only when it is
// complete and on disk. Reading trusts nothing in the file. The functions block, so only file threads may call them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/build/row_slice.h"
#include "messages/env/disk.h"
#include "messages/values/tensor.h"

namespace troupe {

struct SavedTensor {
  std::string name;
  Tensor value;  ///< in host memory; its completion must have been reached
  uint64_t version = 0;
  std::optional<RowSlice> slice = {};  ///< what the tensor is a part of; nothing if it is whole
  /// The number of the cell of this process that has the value, if one is known.
  std::optional<uint32_t> cell = {};
};

using SavedTensors = std::vector<SavedTensor>;

/// What a manifest says about a file.
struct ShardFile {
  struct Saved {
    std::string name;
    uint64_t version = 0;
    std::optional<RowSlice> slice = {};
  };
  std::string name;  ///< the file's name in the folder of its checkpoint
  uint64_t bytes = 0;
  uint32_t checksum = 0;  ///< CRC-32C of the file
  std::vector<Saved> tensors;
  /// The name of the older checkpoint in whose folder the file lies, and which may have more tensors than `tensors`; empty: it lies
  /// in the folder of the checkpoint that lists it.
  std::string folder = {};

  /// Returns the path of the file, given that of the checkpoint that lists it.
  std::string path(const std::string& checkpoint) const;
};

/// Returns "shard-00000-of-00002.safetensors", for example, or "shard-00000-of-00002-steady.safetensors".
std::string shard_name(uint32_t shard, uint32_t shards, bool steady = false);

/// Writes a file of this name into an existing folder. If `unhurried`, the thread rests in between, so that training beside it
/// hardly becomes slower. Fails with Unimplemented, naming the tensor, if the safetensors layout does not have its dtype, and with
/// InvalidArgument if it cannot have its name.
Result<ShardFile> write_shard(Disk& disk, const std::string& folder, const std::string& name,
                              std::span<const SavedTensor> tensors, bool unhurried = false);

/// Reads and checks the whole file of the checkpoint in the folder `checkpoint`, and returns those of its listed tensors for which
/// `wanted` returns true. Fails with DataLoss, which names the file, its damage and, if the file belongs to an older checkpoint,
/// what is needed of it. After any other failure (of the disk, of memory) the file may be intact.
Result<std::vector<SavedTensor>> read_shard(Disk& disk, const std::string& checkpoint, const ShardFile& file,
                                            const std::function<bool(const ShardFile::Saved&)>& wanted);

/// Turns a failure that shows a damaged checkpoint (a missing file, for example) into DataLoss with the path. Returns any other
/// failure unchanged.
Status as_damage(const std::string& path, const Status& failure);

}  // namespace troupe
