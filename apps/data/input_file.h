// InputFile: a file that is read at any offset, or text in memory that is read as if it were one. Owned by readers; one thread at a
// time.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "messages/env/disk.h"

namespace troupe::data {

class InputFile {
 public:
  /// What the disk says when it cannot be opened.
  static Result<std::shared_ptr<InputFile>> open(Disk& disk, const std::string& path);
  /// `bytes` outlive it.
  static std::shared_ptr<InputFile> in_memory(std::string_view bytes, std::string path);

  const std::string& path() const { return path_; }
  /// Bytes, when it was opened.
  uint64_t size() const { return size_; }
  /// Fills `into` from byte `offset` on. DataLoss, with file and offset, when the file ends before.
  Status read(uint64_t offset, std::span<std::byte> into) const;
  /// At most `most` bytes from byte `offset` on, fewer at the end of the file.
  Result<std::string> text(uint64_t offset, uint64_t most) const;

 private:
  InputFile(std::unique_ptr<ReadableFile> file, std::string path, uint64_t size)
      : file_(std::move(file)), path_(std::move(path)), size_(size) {}

  std::unique_ptr<ReadableFile> file_;
  std::string path_;
  uint64_t size_;
};

}  // namespace troupe::data
