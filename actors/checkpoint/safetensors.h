// The safetensors layout: u64 little-endian length of the header, a JSON header with dtype, shape and byte range of each tensor,
// then the bytes of the tensors. Reading checks every length, range and shape against the file. No I/O here.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "messages/values/shape.h"

namespace troupe {

/// What the header says of one tensor.
struct TensorEntry {
  std::string name;
  DType dtype = DType::Invalid;
  Shape shape;

  uint64_t bytes() const { return static_cast<uint64_t>(shape.elements()) * size_of(dtype); }
};

/// Everything before the bytes of the tensors, which follow in the order given. Unimplemented for a dtype the format lacks,
/// InvalidArgument for a name it cannot hold, or two equal ones.
Result<std::string> safetensors_header(std::span<const TensorEntry> tensors);

inline constexpr size_t safetensors_prefix = 8;  ///< bytes of the length of the header

/// The length of the header of a file that begins with these 8 bytes. DataLoss when it cannot be.
Result<uint64_t> safetensors_header_length(std::string_view prefix, uint64_t file_bytes);
/// The entries in the order of their bytes, which are the `data_bytes` that follow the header, without gaps or overlaps.
/// DataLoss says what is wrong.
Result<std::vector<TensorEntry>> read_safetensors_header(std::string_view header, uint64_t data_bytes);

}  // namespace troupe
