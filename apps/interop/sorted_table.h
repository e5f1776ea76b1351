// The files in which TensorFlow keeps sorted keys with their values, the index of a checkpoint among them: blocks of entries whose keys
// share their beginnings, each with a checksum, and at the end where they are. Those of LevelDB; nothing of them is compressed. A
// function without state.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "messages/values/status.h"

namespace troupe::interop {

/// DataLoss, naming `file` and what is wrong, whatever the bytes are; Unimplemented when it is compressed.
Result<std::map<std::string, std::string>> read_sorted_table(std::string_view bytes, const std::string& file);

}  // namespace troupe::interop
