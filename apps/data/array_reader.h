// ArrayReader: reads records that are the rows of arrays stored uncompressed in files. The formats idx, npy and npz use it. Owned
// by the function that opened it; one thread at a time.
#pragma once

#include "apps/data/format.h"

namespace troupe::data {

/// An array in a file, in row-major order and without gaps.
struct StoredArray {
  std::string column;  ///< "image", "label", or another
  std::shared_ptr<InputFile> file;
  std::string name;  ///< names the array in errors: the file and, if it has several arrays, the array
  DType dtype = DType::Invalid;
  std::vector<int64_t> dims;
  uint64_t offset = 0;  ///< the position of the first element, in bytes; the file must contain all elements
  bool big_endian = false;
};

/// Returns a reader whose records consist of one row of each array. Fails with DataLoss if the arrays have different numbers of
/// rows, if samples are not numbers, or if labels do not have rank 1.
Result<std::unique_ptr<RecordReader>> read_arrays(std::string_view format, std::vector<StoredArray> arrays);

/// Returns the NumPy array that is stored in the `bytes` bytes from `offset` of the file. Fails with DataLoss and Unimplemented as
/// parse_npy_header() does, and with Unimplemented if the array is in column-major order.
Result<StoredArray> npy_array(std::shared_ptr<InputFile> file, uint64_t offset, uint64_t bytes,
                              const std::string& column, const std::string& name);

}  // namespace troupe::data
