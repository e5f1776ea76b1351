// The format npy: the samples are the rows of an array (apps/data/arrays/npy.h). The labels are an array in a separate file.
#include "apps/data/array_reader.h"

namespace troupe::data {
namespace {

Result<StoredArray> open_array(Disk& disk, const std::string& path, std::optional<Compression> compression,
                               const char* column) {
  TROUPE_ASSIGN(auto file, InputFile::open(disk, path, compression));
  TROUPE_ASSIGN(const uint64_t bytes, file->size());
  return npy_array(std::move(file), 0, bytes, column, path);
}

Result<std::unique_ptr<RecordReader>> open_npy(Disk& disk, const SourceFile& file) {
  std::vector<StoredArray> arrays;
  TROUPE_ASSIGN(arrays.emplace_back(), open_array(disk, file.path, file.compression, feature_column));
  if (!file.labels.empty()) {
    TROUPE_ASSIGN(arrays.emplace_back(), open_array(disk, file.labels, file.compression, label_column));
  }
  return read_arrays("npy", std::move(arrays));
}

}  // namespace

Format npy_format() { return {.name = "npy", .open = open_npy, .label_files = true}; }

}  // namespace troupe::data
