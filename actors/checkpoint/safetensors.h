// The safetensors layout of a file: the length of the header (u64, little-endian), a JSON header with the dtype, shape and byte
// range of each tensor, then the bytes of the tensors. Reading checks every length, range and shape. These functions do no I/O.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "messages/values/shape.h"

namespace troupe {

/// What a header says about one tensor.
struct TensorEntry {
  std::string name;
  DType dtype = DType::Invalid;
  Shape shape;

  uint64_t bytes() const { return static_cast<uint64_t>(shape.elements()) * size_of(dtype); }
};

/// Returns the beginning of a file, which the bytes of the tensors must follow in the order given. Fails with Unimplemented if the
/// layout does not have a dtype, and with InvalidArgument if it cannot have a name or two names are equal.
Result<std::string> safetensors_header(std::span<const TensorEntry> tensors);

/// The number of bytes that contain the length of the header.
inline constexpr size_t safetensors_prefix = 8;

/// Returns the length of the header, given the first 8 bytes of a file. Fails with DataLoss if the file cannot have such a header.
Result<uint64_t> safetensors_header_length(std::string_view prefix, uint64_t file_bytes);
/// Returns the entries of a header in the order of their bytes. Fails with DataLoss if the header is malformed, or if the tensors
/// are not exactly the `data_bytes` that follow it, without gaps or overlaps.
Result<std::vector<TensorEntry>> read_safetensors_header(std::string_view header, uint64_t data_bytes);

}  // namespace troupe
