// The bytes of a sorted table with any entries: for tests of what reads such files. Test code.
#pragma once

#include <map>
#include <string>

#include "messages/tensor_files/sorted_table_writer.h"

namespace troupe::test {

inline std::string sorted_table_bytes(const std::map<std::string, std::string>& entries) {
  std::string bytes;
  SortedTableWriter table([&bytes](std::string_view more) {
    bytes += more;
    return Status();
  });
  for (const auto& [key, value] : entries) throw_if_failed(table.add(key, value));
  throw_if_failed(table.finish());
  return bytes;
}

}  // namespace troupe::test
