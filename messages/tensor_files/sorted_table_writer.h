// SortedTableWriter: writes a file of sorted keys with values that SortedTable and TensorFlow read. Blocks are not compressed.
// One thread at a time.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "messages/values/status.h"

namespace troupe {

class SortedTableWriter {
 public:
  /// `append` appends bytes to the file.
  explicit SortedTableWriter(std::function<Status(std::string_view bytes)> append)
      : append_(std::move(append)) {}

  /// Adds an entry. Each key must be greater than the one before; fails with InvalidArgument otherwise.
  Status add(std::string_view key, std::string_view value);
  /// Writes what remains, and the index. Called once, at the end.
  Status finish();

 private:
  /// The entries of a block that is not yet written.
  struct Block {
    void add(std::string_view key, std::string_view value);
    bool empty() const { return restarts.empty(); }

    std::string bytes, last_key;
    std::string restarts;  ///< the positions of the keys that are stored whole
    uint32_t restart_count = 0, since_restart = 0;
  };
  Status end_block();
  /// Writes a block. Returns its handle: offset and size.
  Result<std::string> write(Block block);

  const std::function<Status(std::string_view)> append_;
  uint64_t written_ = 0;
  Block block_, index_;
  bool has_entries_ = false;
};

}  // namespace troupe
