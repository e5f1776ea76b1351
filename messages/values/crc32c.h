// The checksum CRC-32C (Castagnoli), and its masked form, which TensorFlow's files contain. Functions without state; any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace troupe {

/// Returns the CRC-32C of a text, of which `bytes` are the end and `before` is the CRC-32C of the beginning.
uint32_t crc32c(std::string_view bytes, uint32_t before = 0);

/// Returns the masked form of a CRC-32C. It keeps checksums strong for bytes that contain checksums themselves.
constexpr uint32_t mask_crc32c(uint32_t checksum) {
  return ((checksum >> 15) | (checksum << 17)) + 0xa282ead8u;
}

inline uint32_t masked_crc32c(std::string_view bytes) { return mask_crc32c(crc32c(bytes)); }

}  // namespace troupe
