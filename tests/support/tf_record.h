// Records of TensorFlow's files, for tests that write such files.
#pragma once

#include <string>

#include "messages/values/crc32c.h"

namespace troupe::test {

/// Returns the bytes of a number as they lie in memory.
template <class T>
std::string bytes_of(T number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

/// Returns a record with its length and its checksums.
inline std::string tf_record(const std::string& record) {
  const std::string length = bytes_of(static_cast<uint64_t>(record.size()));
  return length + bytes_of(masked_crc32c(length)) + record + bytes_of(masked_crc32c(record));
}

}  // namespace troupe::test
