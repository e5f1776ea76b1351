// InputFile: a file that can be read at any offset, whether it is compressed or not, or bytes in memory with the same interface.
// Readers share it; one thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "messages/records/byte_source.h"

namespace troupe::data {

class InputFile {
 public:
  /// Opens a file. If `compression` is not set, files of Gzip and Zstd are known by their first bytes. Fails with the error of
  /// the disk.
  static Result<std::shared_ptr<InputFile>> open(Disk& disk, const std::string& path,
                                                 std::optional<Compression> compression = Compression::None);
  /// Returns an object that reads `bytes`, which must outlive it. Errors name `path`.
  static std::shared_ptr<InputFile> in_memory(std::string_view bytes, std::string path);

  /// Returns `bytes` stored bytes from `offset`, which must lie inside this file, as a file of their own. Errors name `path`.
  std::shared_ptr<InputFile> part(uint64_t offset, uint64_t bytes, Compression compression,
                                  std::string path) const;

  const std::string& path() const { return path_; }
  bool is_compressed() const { return file_ != stored_; }

  // The content of the file, without its compression. In a compressed file, reading on is cheap; going back takes reading from
  // the beginning, and the first call of size() takes reading the whole file.
  /// Returns the size in bytes. Of a file that is not compressed it is the one it had when it was opened.
  Result<uint64_t> size() const;
  /// Fills `into` with the bytes from `offset`. Fails with DataLoss, naming file and offset, if the file ends before.
  Status read(uint64_t offset, std::span<std::byte> into) const;
  /// Fills `into` as far as the file has bytes from `offset` on. Returns their number.
  Result<size_t> read_some(uint64_t offset, std::span<std::byte> into) const;
  /// Returns at most `max_bytes` bytes from `offset`; fewer at the end of the file.
  Result<std::string> text(uint64_t offset, uint64_t max_bytes) const;

  // The bytes on the disk, which are compressed if the file is.
  uint64_t stored_size() const { return stored_size_; }
  Result<std::string> stored_text(uint64_t offset, uint64_t max_bytes) const;

 private:
  InputFile(std::shared_ptr<ReadableFile> stored, std::shared_ptr<ReadableFile> file, std::string path,
            uint64_t stored_size)
      : stored_(std::move(stored)), file_(std::move(file)), path_(std::move(path)),
        stored_size_(stored_size) {}

  std::shared_ptr<ReadableFile> stored_;
  std::shared_ptr<ReadableFile> file_;  ///< the content; the same as stored_ if it is not compressed
  std::string path_;
  uint64_t stored_size_;
};

/// Returns the bytes of a file from an offset on.
std::unique_ptr<ByteSource> source_from(std::shared_ptr<const InputFile> file, uint64_t offset);

}  // namespace troupe::data
