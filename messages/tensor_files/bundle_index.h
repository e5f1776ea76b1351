// BundleIndex: the file PREFIX.index of a checkpoint in TensorFlow's format V2 (a bundle). It says where each variable is stored.
// It is a sorted table: a BundleHeaderProto under the key "", and a BundleEntryProto for each variable under its name. A variable
// that was saved in parts also has an entry for each part, under its slice key. Plain values; any thread. Source:
// tensorflow/core/protobuf/tensor_bundle.proto.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "messages/env/disk.h"
#include "messages/tensor_files/tensor_slice.h"

namespace troupe {

struct BundleEntry {
  DType dtype = DType::Invalid;
  Shape shape;
  int shard = 0;                  ///< the number of the data file
  uint64_t offset = 0, size = 0;  ///< the bytes in that file
  uint32_t checksum = 0;          ///< masked
  /// The slices of a partitioned variable, in the order of the file, as they were written (TensorSlice::all). Each has an entry
  /// of its own that holds its bytes.
  std::vector<TensorSlice> parts;
};

struct BundleIndex {
  int shards = 1;  ///< the number of data files
  std::map<std::string, BundleEntry> entries;
  std::map<std::string, BundleEntry> parts;  ///< by slice_key()

  /// Parses the bytes of an index. Fails with DataLoss if they are damaged, and with Unimplemented if the index has a type, byte
  /// order or version that Troupe does not read. Errors name `file`.
  static Result<BundleIndex> parse(std::string_view bytes, const std::string& file);
  /// Reads PREFIX.index. Fails in addition with NotFound if it does not exist.
  static Result<BundleIndex> read(Disk& disk, const std::string& prefix);
  /// Writes PREFIX.index, which appears when it is complete and durable.
  Status write(Disk& disk, const std::string& prefix) const;
};

std::string bundle_index_file(const std::string& prefix);
/// Returns a name such as "PREFIX.data-00001-of-00003".
std::string bundle_data_file(const std::string& prefix, int shard, int shards);

/// The protocol buffers TensorSliceProto and BundleEntryProto. Reading fails with DataLoss.
Result<TensorSlice> read_slice_proto(std::string_view message);
std::string write_slice_proto(const TensorSlice& slice);
Result<BundleEntry> read_bundle_entry(std::string_view message, int shards);
std::string write_bundle_entry(const BundleEntry& entry);

/// Returns a type that files may hold, given its number. Unimplemented for handles and variants.
Result<DType> stored_dtype(uint64_t number);

}  // namespace troupe
