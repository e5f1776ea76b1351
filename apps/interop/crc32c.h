// The checksum CRC-32C (Castagnoli) in the form that TensorFlow's files use. A function without state; any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace troupe::interop {

/// Returns the masked CRC-32C of the bytes. The mask keeps checksums strong for bytes that contain checksums themselves.
uint32_t masked_crc32c(std::string_view bytes);

}  // namespace troupe::interop
