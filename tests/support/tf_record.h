// Records of TensorFlow's files, for tests that write such files.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "messages/protobuf/fields.h"
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

/// Returns a field of a protocol buffer that has bytes.
inline std::string bytes_field(uint32_t number, const std::string& bytes) {
  std::string field;
  protobuf::append_varint(field, number << 3 | static_cast<uint32_t>(protobuf::FieldKind::Bytes));
  protobuf::append_varint(field, bytes.size());
  return field + bytes;
}

/// Returns a TensorFlow Example whose features are lists of integers.
inline std::string example(const std::map<std::string, std::vector<int64_t>>& features) {
  constexpr uint32_t int64_list = 3;
  std::string all;
  for (const auto& [key, values] : features) {
    std::string packed;
    for (const int64_t value : values) protobuf::append_varint(packed, static_cast<uint64_t>(value));
    all +=
        bytes_field(1, bytes_field(1, key) + bytes_field(2, bytes_field(int64_list, bytes_field(1, packed))));
  }
  return bytes_field(1, all);
}

}  // namespace troupe::test
