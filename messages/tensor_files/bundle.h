// Bundle: reads a checkpoint that TensorFlow's Saver wrote (format V2). PREFIX.index lists where each variable is stored; the
// files PREFIX.data-00000-of-00001 and so on hold the values. Files are not trusted. The disk must outlive it. One thread at a
// time.
#pragma once

#include <string>

#include "messages/tensor_files/bundle_index.h"
#include "messages/tensor_files/data_blocks.h"

namespace troupe {

class Bundle {
 public:
  /// Reads the index. Fails with NotFound if it does not exist, DataLoss if it is damaged, and Unimplemented if it has a type,
  /// byte order or version that Troupe does not read.
  static Result<Bundle> open(Disk& disk, const std::string& prefix, TensorReading reading = {});

  /// Returns the entries by the names of variables.
  const std::map<std::string, BundleEntry>& entries() const { return index_.entries; }
  /// Returns the entry of a variable. Fails with NotFound if there is none.
  Result<const BundleEntry*> find(const std::string& name) const;
  /// Returns the value of a variable, joined if it was saved in parts. Fails with NotFound if there is no such variable; with
  /// DataLoss if bytes are missing or their number or checksum is wrong, or if parts are missing or overlap; with
  /// ResourceExhausted if there are more than max_tensor_parts.
  Result<Tensor> read(const std::string& name) const;
  /// Returns a slice of a variable, whatever slices were saved. The lengths of the slice must be given. Fails as above, and with
  /// InvalidArgument if the slice lies outside the variable.
  Result<Tensor> read(const std::string& name, const TensorSlice& slice) const;

 private:
  struct Part {
    TensorSlice slice;
    const BundleEntry* entry;
  };
  /// The data file that was read last, which is often the next, too.
  struct OpenFile {
    int shard = -1;
    std::unique_ptr<ReadableFile> file;
  };
  Bundle(Disk& disk, std::string prefix, BundleIndex index, TensorReading reading)
      : disk_(&disk), prefix_(std::move(prefix)), index_(std::move(index)), reading_(reading) {}
  Result<Tensor> read_slice(const std::string& name, const BundleEntry& entry,
                            const TensorSlice& slice) const;
  Result<Tensor> read_stored(const BundleEntry& entry) const;
  Result<std::vector<Part>> parts_of(const std::string& name, const BundleEntry& entry) const;
  Status check_bytes(std::vector<Part> parts) const;
  Result<ReadableFile*> open_range(const BundleEntry& entry) const;

  Disk* disk_;
  std::string prefix_;
  BundleIndex index_;
  TensorReading reading_;
  mutable OpenFile opened_;
};

}  // namespace troupe
