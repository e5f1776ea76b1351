// TextLines: the lines of a file of text, one after the other, in memory that its longest line and a buffer bound. Lines end with
// '\n', the last one perhaps with the file; a byte order mark at the beginning is no part of the first one. Owned by a reader; one
// thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "apps/data/input_file.h"

namespace troupe::data {

class TextLines {
 public:
  static constexpr size_t longest_line = size_t{64} << 20;  ///< bytes

  explicit TextLines(std::shared_ptr<InputFile> file) : file_(std::move(file)) {}

  /// The next line, without its end; nothing at the end of the file. Valid until the next call. DataLoss for a line that is too
  /// long.
  Result<std::optional<std::string_view>> next();
  /// The number of the line that next() has returned, from 1; so many lines are before the one that it returns next.
  uint64_t row() const { return row_; }
  /// Where the next line begins, in bytes.
  uint64_t offset() const { return buffer_begin_ + at_; }
  /// next() goes on at a line's beginning, before which there are `row` lines.
  void seek(uint64_t offset, uint64_t row);

  const InputFile& file() const { return *file_; }

 private:
  /// The next `length` bytes as a line, which `end` more bytes end.
  std::optional<std::string_view> take(size_t length, size_t end);
  /// Drops what has been read, and reads more of the file; false at its end.
  Result<bool> fill();

  std::shared_ptr<InputFile> file_;
  std::string buffer_;
  size_t at_ = 0;              ///< in the buffer, of the next line
  uint64_t buffer_begin_ = 0;  ///< where in the file
  uint64_t row_ = 0;
};

}  // namespace troupe::data
