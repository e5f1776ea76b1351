// Reads and writes NumPy's .npy files, which contain one array (formats 1.0 to 3.0; what is written is little-endian). The element
// types are those that NumPy and Troupe have in common: bool, integers, half, float, double and complex numbers. A bfloat16 is
// stored as uint16. Functions without state; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "messages/values/tensor.h"

namespace troupe::data {

/// The header of a file, which precedes the elements.
struct NpyHeader {
  DType dtype = DType::Invalid;
  bool columns_first = false;  ///< whether the elements are in column-major order
  bool big_endian = false;     ///< whether the highest byte of a number comes first
  std::vector<int64_t> dims;
  size_t bytes = 0;  ///< the size of the header
};

/// The most bytes of a header. NumPy writes none that is longer.
inline constexpr size_t max_npy_header = 1 << 20;

/// Parses the header of a file that begins with `bytes`. Errors name `file`. Fails with DataLoss if the header is cut short or
/// malformed, and with Unimplemented if the type is not supported.
Result<NpyHeader> parse_npy_header(std::string_view bytes, const std::string& file);
/// Converts numbers from big-endian to little-endian, the order of this machine.
void swap_bytes(Tensor& tensor);
/// Fails with DataLoss unless the shape needs exactly the `bytes` bytes that follow the header.
Status check_elements(const NpyHeader& header, uint64_t bytes, const std::string& file);

/// Returns the array in row-major order, whatever its order in the file. Fails as the functions above do.
Result<Tensor> read_npy(std::string_view bytes, const std::string& file);
/// Returns the header of a file, which the elements follow in row-major order. Fails with InvalidArgument for types that NumPy
/// lacks, such as strings and quantised types.
Result<std::string> npy_header(DType dtype, std::span<const int64_t> dims);
/// Returns the bytes of a file. Fails as npy_header() does.
Result<std::string> write_npy(const Tensor& tensor);

/// Returns an array of uint16 as bfloat16 with the same bits. Fails with InvalidArgument for other types.
Result<Tensor> as_bfloat16(const Tensor& bits);

}  // namespace troupe::data
