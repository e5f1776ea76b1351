// TextLines: reads a text file row by row. A row is a line, or several, as a function decides. It needs memory for a buffer and the
// longest row. Lines end with '\n' or with the file. A byte order mark at the beginning of the file is skipped. Owned by a reader;
// one thread at a time.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "apps/data/input_file.h"

namespace troupe::data {

class TextLines {
 public:
  static constexpr size_t max_line = size_t{64} << 20;  ///< the most bytes of a row
  /// Called for each line of a row, with its end. Returns whether the row goes on in the next line.
  using GoesOn = std::function<bool(std::string_view line)>;

  /// Without `goes_on` each row is a line.
  explicit TextLines(std::shared_ptr<InputFile> file, GoesOn goes_on = {})
      : file_(std::move(file)), goes_on_(std::move(goes_on)) {}

  /// Returns the next row without the end of its last line, or nothing at the end of the file. The row is valid until the next
  /// call. Fails with DataLoss if a row is longer than max_line.
  Result<std::optional<std::string_view>> next();
  /// Returns the number of the line in which the last row begins, counted from 1.
  uint64_t row() const { return row_; }
  /// Returns the number of lines that have been read.
  uint64_t lines() const { return lines_; }
  /// Returns the offset of the next row, in bytes.
  uint64_t offset() const { return buffer_begin_ + at_; }
  /// Makes next() continue at the beginning of a line that has `lines` lines before it.
  void seek(uint64_t offset, uint64_t lines);

  const InputFile& file() const { return *file_; }

 private:
  /// Returns whether the row goes on behind a line, which ends in the buffer at `end`; `begin` and `end` count from the row.
  bool goes_on(size_t begin, size_t end) const;
  /// Returns the next `length` bytes of the buffer, which are `lines` lines, as a row, and skips `end` bytes, the end of a line.
  std::optional<std::string_view> take(size_t length, size_t end, uint64_t lines);
  /// Drops the bytes that have been returned and reads more of the file. Returns false at its end.
  Result<bool> fill();

  std::shared_ptr<InputFile> file_;
  const GoesOn goes_on_;
  std::string buffer_;
  size_t at_ = 0;              ///< the position of the next row in the buffer
  uint64_t buffer_begin_ = 0;  ///< the offset of the buffer in the file
  uint64_t row_ = 0, lines_ = 0;
};

}  // namespace troupe::data
