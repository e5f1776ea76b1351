// Reads the files in which TensorFlow stores sorted keys with values: the index of a checkpoint, or a whole checkpoint of the
// first format. They have the format of LevelDB's tables: blocks of entries whose keys share prefixes, each block with a
// checksum, and an index of the blocks at the end. Compressed blocks are not supported. Files are not trusted. One thread at a
// time.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "messages/env/disk.h"

namespace troupe {

class SortedTable {
 public:
  /// Reads the index of the blocks. Errors name `file`: DataLoss if the bytes are damaged, Unimplemented if blocks are
  /// compressed.
  static Result<SortedTable> open(std::unique_ptr<ReadableFile> bytes, std::string file);

  using Visit = std::function<Status(std::string_view key, std::string_view value)>;
  /// Calls `visit` for each entry, in ascending order of the keys. Stops when it fails.
  Status each(const Visit& visit) const;
  /// Calls `visit` for the entry with this key. Returns whether there is one. Reads only the block that would hold it.
  Result<bool> find(std::string_view key, const Visit& visit) const;

  /// The total length of all keys, which can be far larger than the file, is limited.
  static constexpr uint64_t max_key_bytes = uint64_t{1} << 30;

 private:
  struct Block {
    std::string last_key;  ///< no key of the block is greater; those of the next block are
    uint64_t offset, size;
  };
  SortedTable(std::unique_ptr<ReadableFile> bytes, uint64_t size, std::string file)
      : bytes_(std::move(bytes)), size_(size), file_(std::move(file)) {}

  Status damaged(const std::string& what) const;
  Status read_footer();
  Result<std::string> read(uint64_t offset, uint64_t size) const;
  Result<std::string> read_block(uint64_t offset, uint64_t size) const;
  Status visit_block(std::string_view block, uint64_t offset, uint64_t& key_bytes, const Visit& visit) const;

  std::unique_ptr<ReadableFile> bytes_;
  uint64_t size_;
  std::string file_;
  std::vector<Block> blocks_;
};

/// Returns the values by their keys of a table in memory. Fails as open() does.
Result<std::map<std::string, std::string>> read_sorted_table(std::string_view bytes, const std::string& file);

}  // namespace troupe
