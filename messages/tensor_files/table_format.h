// The numbers of the format of sorted tables, which their reader and writer share. Source: the LevelDB documentation,
// "leveldb File format".
#pragma once

#include <cstddef>
#include <cstdint>

namespace troupe::table_format {

inline constexpr size_t footer_bytes = 48;  ///< at the end of the file
/// At the end of each block: how it is compressed, and its masked checksum.
inline constexpr size_t trailer_bytes = 5;
inline constexpr uint64_t magic = 0xdb4775248b80fb57u;
inline constexpr char uncompressed = 0;

}  // namespace troupe::table_format
