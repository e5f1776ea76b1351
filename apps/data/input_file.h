// InputFile: a file that can be read at any offset, or bytes in memory with the same interface. Readers share it; one thread at a
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
  /// Opens a file. Fails with the error of the disk.
  static Result<std::shared_ptr<InputFile>> open(Disk& disk, const std::string& path);
  /// Returns an object that reads `bytes`, which must outlive it. Errors name `path`.
  static std::shared_ptr<InputFile> in_memory(std::string_view bytes, std::string path);

  const std::string& path() const { return path_; }
  /// Returns the size in bytes that the file had when it was opened.
  uint64_t size() const { return size_; }
  /// Fills `into` with the bytes from `offset`. Fails with DataLoss, naming file and offset, if the file ends before.
  Status read(uint64_t offset, std::span<std::byte> into) const;
  /// Returns at most `max_bytes` bytes from `offset`; fewer at the end of the file.
  Result<std::string> text(uint64_t offset, uint64_t max_bytes) const;

 private:
  InputFile(std::unique_ptr<ReadableFile> file, std::string path, uint64_t size)
      : file_(std::move(file)), path_(std::move(path)), size_(size) {}

  std::unique_ptr<ReadableFile> file_;
  std::string path_;
  uint64_t size_;
};

}  // namespace troupe::data
