// Bundle: reads a checkpoint that TensorFlow's Saver wrote (format V2). PREFIX.index lists where each variable is stored; the files
// PREFIX.data-00000-of-00001 and so on hold the values. The disk must outlive it. One thread at a time.
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
    /// The slices of a partitioned variable, in the order of the file. Each has an entry of its own that holds its bytes.
    std::vector<TensorSlice> parts;
  };

  /// Reads the index. Fails with NotFound if it does not exist, DataLoss if it is damaged, and Unimplemented if it has a type or
  /// byte order that Troupe does not read.
  static Result<Bundle> open(Disk& disk, const std::string& prefix);

  /// Returns the entries by the names of variables.
  const std::map<std::string, Entry>& entries() const { return index_.entries; }
  /// Returns the value of a variable, joined if it was saved in parts. Fails with NotFound if there is no such variable; with
  /// DataLoss if bytes are missing or their number or checksum is wrong, or if parts are missing or overlap; with ResourceExhausted
  /// if there are more than max_parts.
  Result<Tensor> read(const std::string& name) const;
  /// Returns a slice of a variable, whatever slices were saved. The lengths of the slice must be given. Fails as above, and with
  /// InvalidArgument if the slice lies outside the variable.
  Result<Tensor> read(const std::string& name, const TensorSlice& slice) const;
  static constexpr size_t max_parts = 4096;  ///< the most parts of one variable

  struct Index {
    int shards = 0;
    std::map<std::string, Entry> entries;
    std::map<std::string, Entry> parts;  ///< by slice_key()
  };
  /// Parses the bytes of an index. Errors name `file`.
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
