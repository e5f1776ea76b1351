// Bundle: a checkpoint that TensorFlow's Saver wrote (format V2): PREFIX.index, which says where each variable is, and the values in
// PREFIX.data-00000-of-00001 and so on. Owned by whoever opened it; the disk outlives it. One thread.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "messages/disk.h"
#include "messages/tensor.h"

namespace troupe::interop {

class Bundle {
 public:
  struct Entry {
    DType dtype = DType::Invalid;
    Shape shape;
    int shard = 0;
    uint64_t offset = 0, size = 0;
    uint32_t checksum = 0;
    bool in_parts = false;  ///< of a partitioned variable
  };

  /// DataLoss for an index that is damaged, Unimplemented for a type or byte order that is not read, NotFound.
  static Result<Bundle> open(Disk& disk, const std::string& prefix);

  /// By the names of variables.
  const std::map<std::string, Entry>& entries() const { return index_.entries; }
  /// The value. NotFound; DataLoss when its bytes are not there, are not as many, or have another checksum; Unimplemented for a
  /// variable in parts.
  Result<Tensor> read(const std::string& name) const;

  /// What an index of these bytes says; `file` for messages.
  struct Index {
    int shards = 0;
    std::map<std::string, Entry> entries;
  };
  static Result<Index> read_index(std::string_view bytes, const std::string& file);

 private:
  Bundle(Disk& disk, std::string prefix, Index index)
      : disk_(&disk), prefix_(std::move(prefix)), index_(std::move(index)) {}
  Result<std::string> bytes_of(const std::string& name, const Entry& entry) const;

  Disk* disk_;
  std::string prefix_;
  Index index_;
};

}  // namespace troupe::interop
