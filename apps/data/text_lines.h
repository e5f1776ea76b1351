// TextLines: reads a text file line by line. It needs memory for a buffer and the longest line. Lines end with '\n' or with the
// file. A byte order mark at the beginning of the file is skipped. Owned by a reader; one thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "apps/data/input_file.h"

namespace troupe::data {

class TextLines {
 public:
  static constexpr size_t max_line = size_t{64} << 20;  ///< the most bytes of a line

  explicit TextLines(std::shared_ptr<InputFile> file) : file_(std::move(file)) {}

  /// Returns the next line without its end, or nothing at the end of the file. The line is valid until the next call. Fails with
  /// DataLoss if a line is longer than max_line.
  Result<std::optional<std::string_view>> next();
  /// Returns the number of the line that next() returned last, counted from 1.
  uint64_t row() const { return row_; }
  /// Returns the offset of the next line, in bytes.
  uint64_t offset() const { return buffer_begin_ + at_; }
  /// Makes next() continue at the beginning of a line that has `row` lines before it.
  void seek(uint64_t offset, uint64_t row);

  const InputFile& file() const { return *file_; }

 private:
  /// Returns the next `length` bytes of the buffer as a line and skips `end` bytes, the line's end.
  std::optional<std::string_view> take(size_t length, size_t end);
  /// Drops the bytes that have been returned and reads more of the file. Returns false at its end.
  Result<bool> fill();

  std::shared_ptr<InputFile> file_;
  std::string buffer_;
  size_t at_ = 0;              ///< the position of the next line in the buffer
  uint64_t buffer_begin_ = 0;  ///< the offset of the buffer in the file
  uint64_t row_ = 0;
};

}  // namespace troupe::data
