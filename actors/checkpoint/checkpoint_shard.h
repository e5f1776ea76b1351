// One file of a checkpoint: named tensors in the safetensors layout, written so that it appears only when it is whole and on
// disk, read as hostile. Calls block: file threads only.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "messages/env/disk.h"
#include "messages/values/tensor.h"

namespace troupe {

struct SavedTensor {
  std::string name;
  Tensor value;  ///< in host memory, complete
  uint64_t version = 0;
};

/// What the manifest says of a file.
struct ShardFile {
  struct Saved {
    std::string name;
    uint64_t version = 0;
  };
  std::string name;  ///< in the folder
  uint64_t bytes = 0;
  uint32_t checksum = 0;  ///< CRC-32C of the file
  std::vector<Saved> tensors;
};

uint32_t crc32c(std::string_view bytes);

/// "shard-00000-of-00002.safetensors".
std::string shard_name(uint32_t shard, uint32_t shards);

/// Writes shard `shard` of `shards` into an existing folder. Unimplemented, naming the tensor, for a dtype that safetensors
/// lacks; InvalidArgument for names that it cannot hold.
Result<ShardFile> write_shard(Disk& disk, const std::string& folder, uint32_t shard, uint32_t shards,
                              std::span<const SavedTensor> tensors);

/// Reads and checks the whole file, and returns those of its tensors that are wanted. DataLoss names the file and what is wrong
/// with it; any other failure (of the disk, of memory) is not the file's.
Result<std::vector<SavedTensor>> read_shard(Disk& disk, const std::string& folder, const ShardFile& file,
                                            const std::function<bool(const std::string&)>& wanted);

/// The failure of a read that finds less than there should be, as the damage that it is: DataLoss with the path.
Status as_damage(const std::string& path, const Status& failure);

}  // namespace troupe
