// CRC-32C (Castagnoli) as TensorFlow's files have it. A function without state.
#pragma once

#include <cstdint>
#include <string_view>

namespace troupe::interop {

/// Of the bytes, and masked, so that a checksum of bytes with checksums in them is no weaker.
uint32_t masked_crc32c(std::string_view bytes);

}  // namespace troupe::interop
