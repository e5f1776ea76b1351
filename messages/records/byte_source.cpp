#include "messages/records/byte_source.h"

#include <algorithm>
#include <array>
#include <vector>

#include "messages/records/decompressor.h"

namespace troupe {
namespace {

constexpr size_t block_bytes = size_t{256} << 10;

class PlainSource final : public ByteSource {
 public:
  explicit PlainSource(std::shared_ptr<ReadableFile> file) : file_(std::move(file)) {}

  Result<size_t> read(std::span<char> into) override {
    TROUPE_ASSIGN(const size_t bytes, file_->read(offset_, std::as_writable_bytes(into)));
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
  const std::shared_ptr<ReadableFile> file_;
  uint64_t offset_ = 0;
};

class DecompressedSource final : public ByteSource {
 public:
  DecompressedSource(std::shared_ptr<ReadableFile> file, Compression compression, std::string place)
      : file_(std::move(file)), place_(std::move(place)), decompressor_(make_decompressor(compression)),
        block_(block_bytes) {}

  Result<size_t> read(std::span<char> into) override {
    for (;;) {
      auto bytes = decompressor_->decompress(into);
      if (!bytes) return damaged(bytes.status());
      if (*bytes != 0) return bytes;
      TROUPE_ASSIGN(const bool fed, feed());
      if (!fed) break;
    }
    if (decompressor_->has_ended() || offset_ == 0)
      return size_t{0};  // as in TensorFlow, an empty file has no bytes
    return damaged(data_loss("the compressed bytes end too early"));
  }

  Result<uint64_t> skip(uint64_t bytes) override {
    std::vector<char> dropped(static_cast<size_t>(std::min<uint64_t>(bytes, block_bytes)));
    uint64_t skipped = 0;
    while (skipped < bytes) {
      const auto piece = static_cast<size_t>(std::min<uint64_t>(bytes - skipped, dropped.size()));
      TROUPE_ASSIGN(const size_t read_now, read(std::span(dropped).first(piece)));
      skipped += read_now;
      if (read_now == 0) break;
    }
    return skipped;
  }

 private:
  /// Returns false at the end of the file.
  Result<bool> feed() {
    TROUPE_ASSIGN(const size_t bytes, file_->read(offset_, std::as_writable_bytes(std::span(block_))));
    offset_ += bytes;
    decompressor_->feed({block_.data(), bytes});
    return bytes != 0;
  }

  Status damaged(const Status& status) const {
    return Status(status.code(), place_ + status.text() + ", at byte " +
                                     std::to_string(offset_ - decompressor_->left()) +
                                     " of the compressed file");
  }

  const std::shared_ptr<ReadableFile> file_;
  const std::string place_;
  uint64_t offset_ = 0;  ///< of the next compressed byte to read
  const std::unique_ptr<Decompressor> decompressor_;
  std::vector<char> block_;
};

}  // namespace

std::unique_ptr<ByteSource> source_of(std::shared_ptr<ReadableFile> file, Compression compression,
                                      std::string place) {
  if (compression == Compression::None) return std::make_unique<PlainSource>(std::move(file));
  return std::make_unique<DecompressedSource>(std::move(file), compression, std::move(place));
}

Result<Compression> compression_of(ReadableFile& file) {
  constexpr std::string_view gzip("\x1f\x8b\x08", 3), zstd("\x28\xb5\x2f\xfd", 4), skipped("\x2a\x4d\x18", 3);
  std::array<char, 4> first{};
  TROUPE_ASSIGN(const size_t bytes, file.read(0, std::as_writable_bytes(std::span(first))));
  const std::string_view head(first.data(), bytes);
  if (head.starts_with(gzip)) return Compression::Gzip;
  // A frame that is skipped begins with one of 16 numbers; the program pzstd writes one before each frame of data.
  const bool is_skipped = bytes == first.size() && (first[0] & 0xf0) == 0x50 && head.substr(1) == skipped;
  return head.starts_with(zstd) || is_skipped ? Compression::Zstd : Compression::None;
}

Result<std::unique_ptr<ByteSource>> open_source(Disk& disk, const std::string& path,
                                                Compression compression) {
  TROUPE_ASSIGN(auto file, disk.open(path));
  return source_of(std::move(file), compression);
}

}  // namespace troupe
