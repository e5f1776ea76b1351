// NumPy's files of one array, .npy (format 1.0 to 3.0, little-endian). Of NumPy's types those that Troupe has: bool, integers,
// half, float, double, complex; bfloat16 is stored as uint16. Functions without state; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "messages/values/tensor.h"

namespace troupe::data {

/// What stands before the elements.
struct NpyHeader {
  DType dtype = DType::Invalid;
  bool columns_first = false;
  std::vector<int64_t> dims;
  size_t bytes = 0;  ///< of the header
};

/// No header that NumPy writes is longer.
inline constexpr size_t max_npy_header = 1 << 20;

/// Of a file that begins with `bytes`, called `file` in errors. DataLoss: it is cut short or contradicts itself; Unimplemented: a
/// type or byte order that is not read.
Result<NpyHeader> parse_npy_header(std::string_view bytes, const std::string& file);
/// DataLoss unless the bytes `there`, which follow the header, are as many as its shape needs.
Status check_elements(const NpyHeader& header, uint64_t there, const std::string& file);

/// The array; rows first, whatever its order in the file. Fails as the functions above.
Result<Tensor> read_npy(std::string_view bytes, const std::string& file);
/// InvalidArgument for a type that NumPy lacks: strings, quantised ones.
Result<std::string> write_npy(const Tensor& tensor);

/// The same bits as bfloat16, of an array of uint16.
Result<Tensor> as_bfloat16(const Tensor& bits);

}  // namespace troupe::data
