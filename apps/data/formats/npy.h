// NumPy's files of arrays: .npy, one array (format 1.0 to 3.0, little-endian), and .npz as numpy.savez writes it, arrays by name in an
// archive without compression. Of NumPy's types those that Troupe has: bool, integers, half, float, double, complex; bfloat16 lies in them
// as uint16. Functions without state; any thread.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "messages/values/tensor.h"

namespace troupe::data {

/// The array; rows first, whatever its order in the file. DataLoss: it is cut short, too long, or contradicts itself; Unimplemented: a
/// type or byte order that is not read. `file` is its name, for these.
Result<Tensor> read_npy(std::string_view bytes, const std::string& file);
/// InvalidArgument for a type that NumPy lacks: strings, quantised ones.
Result<std::string> write_npy(const Tensor& tensor);

/// DataLoss as above, and for a damaged or compressed archive.
Result<std::map<std::string, Tensor>> read_npz(std::string_view bytes, const std::string& file);
Result<std::string> write_npz(const std::map<std::string, Tensor>& arrays);

/// The same bits as bfloat16, of an array of uint16.
Result<Tensor> as_bfloat16(const Tensor& bits);

}  // namespace troupe::data
