// How the streams of records say that a file is damaged. Pure function; any thread.
#pragma once

#include <cstdint>
#include <string>

#include "messages/values/status.h"

namespace troupe {

/// Returns DataLoss "record 3 at byte 120: ...". Records are counted from 0.
inline Status damaged_record(uint64_t record, uint64_t offset, const std::string& what) {
  return data_loss("record " + std::to_string(record) + " at byte " + std::to_string(offset) + ": " + what);
}

}  // namespace troupe
