// The safetensors layout: u64 little-endian length of the header, a JSON header with dtype, shape and byte range of each tensor,
// then the bytes. Reading checks every length, range and shape against the file. No I/O here.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "messages/tensor.h"

namespace troupe {

using NamedTensor = std::pair<std::string, Tensor>;

/// Everything before the bytes of the tensors, which follow in the order given. Unimplemented for a dtype the format lacks.
Result<std::string> safetensors_header(std::span<const NamedTensor> tensors);

/// The tensors of a whole file, copied out of it. DataLoss says what is wrong.
Result<std::vector<NamedTensor>> read_safetensors(std::string_view file);

}  // namespace troupe
