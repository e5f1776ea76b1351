#include "messages/records/byte_source.h"

#include <algorithm>
#include <vector>

#include "messages/records/inflater.h"

namespace troupe {
namespace {

constexpr size_t block_bytes = size_t{256} << 10;

class PlainSource final : public ByteSource {
 public:
  explicit PlainSource(std::unique_ptr<ReadableFile> file) : file_(std::move(file)) {}

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
  const std::unique_ptr<ReadableFile> file_;
  uint64_t offset_ = 0;
};

class InflatedSource final : public ByteSource {
 public:
  InflatedSource(std::unique_ptr<ReadableFile> file, Compression compression)
      : file_(std::move(file)), inflater_(compression), block_(block_bytes) {}

  Result<size_t> read(std::span<char> into) override {
    for (;;) {
      TROUPE_ASSIGN(const size_t bytes, inflater_.inflate(into));
      if (bytes != 0) return bytes;
      TROUPE_ASSIGN(const bool fed, feed());
      if (!fed) break;
    }
    if (inflater_.has_ended() || offset_ == 0)
      return size_t{0};  // as in TensorFlow, an empty file has no bytes
    return data_loss("the compressed bytes end too early, at byte " + std::to_string(offset_));
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
    inflater_.feed({block_.data(), bytes});
    return bytes != 0;
  }

  const std::unique_ptr<ReadableFile> file_;
  uint64_t offset_ = 0;  ///< of the next compressed byte to read
  Inflater inflater_;
  std::vector<char> block_;
};

}  // namespace

std::unique_ptr<ByteSource> source_of(std::unique_ptr<ReadableFile> file, Compression compression) {
  if (compression == Compression::None) return std::make_unique<PlainSource>(std::move(file));
  return std::make_unique<InflatedSource>(std::move(file), compression);
}

Result<std::unique_ptr<ByteSource>> open_source(Disk& disk, const std::string& path,
                                                Compression compression) {
  TROUPE_ASSIGN(auto file, disk.open(path));
  return source_of(std::move(file), compression);
}

}  // namespace troupe
