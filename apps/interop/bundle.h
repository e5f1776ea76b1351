// Bundle: a checkpoint that TensorFlow's Saver wrote (format V2): PREFIX.index, which says where each variable is, and the values in
// PREFIX.data-00000-of-00001 and so on. Owned by whoever opened it; the disk outlives it. One thread.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "apps/interop/tensor_slice.h"
#include "messages/env/disk.h"

namespace troupe::interop {

class Bundle {
 public:
  struct Entry {
    DType dtype = DType::Invalid;
    Shape shape;
    int shard = 0;
    uint64_t offset = 0, size = 0;
    uint32_t checksum = 0;
    /// Of a partitioned variable, as written; they have entries of their own, and it has no bytes.
    std::vector<TensorSlice> parts;
  };

  /// DataLoss for an index that is damaged, Unimplemented for a type or byte order that is not read, NotFound.
  static Result<Bundle> open(Disk& disk, const std::string& prefix);

  /// By the names of variables.
  const std::map<std::string, Entry>& entries() const { return index_.entries; }
  /// The value, put together where it was saved in parts. NotFound; DataLoss when its bytes are not there, are not as many, or have
  /// another checksum, and when its parts are not all there or overlap; ResourceExhausted for more than max_parts.
  Result<Tensor> read(const std::string& name) const;
  /// The same of a slice with lengths, however the parts were cut; InvalidArgument when the variable has no such slice.
  Result<Tensor> read(const std::string& name, const TensorSlice& slice) const;
  static constexpr size_t max_parts = 4096;  ///< of one variable

  /// What an index of these bytes says; `file` for messages.
  struct Index {
    int shards = 0;
    std::map<std::string, Entry> entries;
    std::map<std::string, Entry> parts;  ///< by slice_key()
  };
  static Result<Index> read_index(std::string_view bytes, const std::string& file);

 private:
  struct Part {
    TensorSlice slice;
    const Entry* entry;
  };
  Bundle(Disk& disk, std::string prefix, Index index)
      : disk_(&disk), prefix_(std::move(prefix)), index_(std::move(index)) {}
  Result<Tensor> read_slice(const std::string& name, const Entry& entry, const TensorSlice& slice) const;
  Result<Tensor> read_stored(const Entry& entry) const;
  Result<std::vector<Part>> parts_of(const std::string& name, const Entry& entry) const;
  Status check_bytes(std::vector<Part> parts) const;
  Result<std::unique_ptr<ReadableFile>> open_range(const Entry& entry) const;

  Disk* disk_;
  std::string prefix_;
  Index index_;
};

}  // namespace troupe::interop
