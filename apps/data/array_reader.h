// ArrayReader: records that are the rows of arrays stored as they are in files: what the formats idx, npy and npz have in common.
// Owned by whoever opened it; one thread at a time.
#pragma once

#include "apps/data/format.h"

namespace troupe::data {

/// An array in a file: rows first, without gaps.
struct StoredArray {
  std::string column;  ///< image or label
  std::shared_ptr<InputFile> file;
  std::string name;  ///< for errors: the file, and where in it the array is if it has several
  DType dtype = DType::Invalid;
  std::vector<int64_t> dims;
  uint64_t offset = 0;  ///< of the elements, in bytes; the file has all of them
  bool big_endian = false;
};

/// A record is a row of each array. DataLoss when they have different numbers of rows, or labels are not of rank 1.
Result<std::unique_ptr<RecordReader>> read_arrays(std::string_view format, std::vector<StoredArray> arrays);

/// The array of NumPy that lies at `bytes` bytes from `offset` on in the file. DataLoss and Unimplemented as parse_npy_header(),
/// and for an array whose columns come first.
Result<StoredArray> npy_array(std::shared_ptr<InputFile> file, uint64_t offset, uint64_t bytes,
                              const char* column, const std::string& name);

}  // namespace troupe::data
