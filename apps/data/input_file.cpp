#include "apps/data/input_file.h"

#include <algorithm>
#include <cstring>

#include "apps/data/decompressed_file.h"

namespace troupe::data {
namespace {

/// Returns as many of the wanted bytes from `offset` as a file of `size` bytes has.
size_t bytes_there(uint64_t size, uint64_t offset, uint64_t wanted) {
  return static_cast<size_t>(std::min(wanted, size - std::min(offset, size)));
}

/// Returns a file whose bytes are those of `stored` without their compression.
std::shared_ptr<ReadableFile> decompressed(const std::shared_ptr<ReadableFile>& stored,
                                           Compression compression, const std::string& place) {
  if (compression == Compression::None) return stored;
  return std::make_shared<DecompressedFile>(stored, compression, place);
}

class MemoryFile final : public ReadableFile {
 public:
  explicit MemoryFile(std::string_view bytes) : bytes_(bytes) {}
  Result<uint64_t> size() override { return bytes_.size(); }
  Result<size_t> read(uint64_t offset, std::span<std::byte> into) override {
    const std::string_view part = bytes_.substr(std::min<uint64_t>(offset, bytes_.size()), into.size());
    if (!part.empty()) std::memcpy(into.data(), part.data(), part.size());
    return part.size();
  }

 private:
  std::string_view bytes_;
};

/// Some of the bytes of another file.
class PartOfFile final : public ReadableFile {
 public:
  PartOfFile(std::shared_ptr<ReadableFile> whole, uint64_t begin, uint64_t bytes)
      : whole_(std::move(whole)), begin_(begin), bytes_(bytes) {}
  Result<uint64_t> size() override { return bytes_; }
  Result<size_t> read(uint64_t offset, std::span<std::byte> into) override {
    return whole_->read(begin_ + std::min(offset, bytes_),
                        into.first(bytes_there(bytes_, offset, into.size())));
  }

 private:
  std::shared_ptr<ReadableFile> whole_;
  uint64_t begin_, bytes_;
};

class FileSource final : public ByteSource {
 public:
  FileSource(std::shared_ptr<const InputFile> file, uint64_t offset)
      : file_(std::move(file)), offset_(offset) {}

  Result<size_t> read(std::span<char> into) override {
    TROUPE_ASSIGN(const size_t bytes, file_->read_some(offset_, std::as_writable_bytes(into)));
    offset_ += bytes;
    return bytes;
  }
  Result<uint64_t> skip(uint64_t bytes) override {
    TROUPE_ASSIGN(const uint64_t size, file_->size());
    const uint64_t skipped = std::min(bytes, size - std::min(size, offset_));
    offset_ += skipped;
    return skipped;
  }

 private:
  std::shared_ptr<const InputFile> file_;
  uint64_t offset_;
};

}  // namespace

Result<std::shared_ptr<InputFile>> InputFile::open(Disk& disk, const std::string& path,
                                                   std::optional<Compression> compression) {
  TROUPE_ASSIGN(auto opened, disk.open(path));
  const std::shared_ptr<ReadableFile> stored = std::move(opened);
  TROUPE_ASSIGN(const uint64_t size, stored->size());
  const bool is_guessed = !compression;
  if (is_guessed) {
    TROUPE_ASSIGN(compression, compression_of(*stored));
  }
  const std::string place = path + (is_guessed ? ", compressed by its first bytes: " : ": ");
  return std::shared_ptr<InputFile>(
      new InputFile(stored, decompressed(stored, *compression, place), path, size));
}

std::shared_ptr<InputFile> InputFile::in_memory(std::string_view bytes, std::string path) {
  const auto file = std::make_shared<MemoryFile>(bytes);
  return std::shared_ptr<InputFile>(new InputFile(file, file, std::move(path), bytes.size()));
}

std::shared_ptr<InputFile> InputFile::part(uint64_t offset, uint64_t bytes, Compression compression,
                                           std::string path) const {
  const auto stored = std::make_shared<PartOfFile>(stored_, offset, bytes);
  auto file = decompressed(stored, compression, path + ": ");
  return std::shared_ptr<InputFile>(new InputFile(stored, std::move(file), std::move(path), bytes));
}

Result<uint64_t> InputFile::size() const {
  if (is_compressed()) return file_->size();
  return stored_size_;
}

Result<size_t> InputFile::read_some(uint64_t offset, std::span<std::byte> into) const {
  if (!is_compressed()) into = into.first(bytes_there(stored_size_, offset, into.size()));
  return file_->read(offset, into);
}

Status InputFile::read(uint64_t offset, std::span<std::byte> into) const {
  TROUPE_ASSIGN(const size_t read, file_->read(offset, into));
  if (read == into.size()) return {};
  return data_loss(path_ + ": the file ends at byte " + std::to_string(offset + read) + ", but bytes up to " +
                   std::to_string(offset + into.size()) + " are needed");
}

Result<std::string> InputFile::text(uint64_t offset, uint64_t max_bytes) const {
  if (!is_compressed()) return stored_text(offset, max_bytes);
  std::string bytes(max_bytes, '\0');
  TROUPE_ASSIGN(const size_t read, file_->read(offset, std::as_writable_bytes(std::span(bytes))));
  bytes.resize(read);
  return bytes;
}

Result<std::string> InputFile::stored_text(uint64_t offset, uint64_t max_bytes) const {
  std::string bytes(bytes_there(stored_size_, offset, max_bytes), '\0');
  TROUPE_ASSIGN(const size_t read, stored_->read(offset, std::as_writable_bytes(std::span(bytes))));
  if (read == bytes.size()) return bytes;
  return data_loss(path_ + ": the file has become shorter than the " + std::to_string(stored_size_) +
                   " bytes that it had");
}

std::unique_ptr<ByteSource> source_from(std::shared_ptr<const InputFile> file, uint64_t offset) {
  return std::make_unique<FileSource>(std::move(file), offset);
}

}  // namespace troupe::data
