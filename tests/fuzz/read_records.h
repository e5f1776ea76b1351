// What the fuzzers of the formats of data have in common.
#pragma once

#include "apps/data/format.h"
#include "tests/support/memory_disk.h"

namespace troupe::test {

/// Reads all records of a file, as samples and as labels; the columns of a batch have as many rows as one another.
inline void read_records(std::string_view format, std::string_view bytes) {
  MemoryDisk disk;
  disk.write("f", std::string(bytes));
  for (const DType label_type : {DType::Int32, DType::Float})
    for (const char* labels : {"", "f"}) {
      const auto reader = data::find_format(format)->open(disk, {"f", labels, label_type});
      for (int64_t left = reader ? 1 : 0; left != 0;) {
        const auto records = (*reader)->next(100);
        left = records ? records->samples() : 0;
        for (const auto& column : records ? records->columns() : std::span<const data::Column>())
          if (column.values.shape()[0] != left) __builtin_trap();
      }
    }
}

}  // namespace troupe::test
