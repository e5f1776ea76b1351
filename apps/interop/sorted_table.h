// Reads the files in which TensorFlow stores sorted keys with values, such as the index of a checkpoint. They have the format of
// LevelDB's tables: blocks of entries whose keys share prefixes, each block with a checksum, and an index of the blocks at the end.
// Compressed blocks are not supported. A function without state; any thread.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "messages/values/status.h"

namespace troupe::interop {

/// Returns the values by their keys. Fails with DataLoss if the bytes are damaged and with Unimplemented if blocks are compressed.
/// The error names `file`.
Result<std::map<std::string, std::string>> read_sorted_table(std::string_view bytes, const std::string& file);

}  // namespace troupe::interop
