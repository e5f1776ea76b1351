// Files of sorted keys with any entries, whose checksums are right: for tests of what reads them. Test code.
#pragma once

#include <map>
#include <string>

#include "messages/protobuf/fields.h"
#include "messages/values/crc32c.h"

namespace troupe::test {

class SortedTableWriter {
 public:
  static std::string write(const std::map<std::string, std::string>& entries) {
    SortedTableWriter table;
    const std::string meta = table.add_block({}), values = table.add_block(entries);
    const std::string index = table.add_block({{entries.rbegin()->first, values}});
    std::string footer = meta + index;
    footer.resize(40);
    return table.bytes_ + footer + "\x57\xfb\x80\x8b\x24\x75\x47\xdb";
  }

 private:
  static std::string varint(uint64_t value) {
    std::string bytes;
    protobuf::append_varint(bytes, value);
    return bytes;
  }
  static std::string number(uint32_t value) { return {reinterpret_cast<const char*>(&value), sizeof value}; }

  /// Its offset and size.
  std::string add_block(const std::map<std::string, std::string>& entries) {
    std::string block;
    for (const auto& [key, value] : entries)
      block += varint(0) + varint(key.size()) + varint(value.size()) + key + value;
    block += number(0) + number(1);
    const std::string handle = varint(bytes_.size()) + varint(block.size());
    block += '\0';
    bytes_ += block + number(masked_crc32c(block));
    return handle;
  }

  std::string bytes_;
};

}  // namespace troupe::test
