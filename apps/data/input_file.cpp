#include "apps/data/input_file.h"

#include <algorithm>
#include <cstring>

namespace troupe::data {
namespace {

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

}  // namespace

Result<std::shared_ptr<InputFile>> InputFile::open(Disk& disk, const std::string& path) {
  TROUPE_ASSIGN(auto file, disk.open(path));
  TROUPE_ASSIGN(const uint64_t size, file->size());
  return std::shared_ptr<InputFile>(new InputFile(std::move(file), path, size));
}

std::shared_ptr<InputFile> InputFile::in_memory(std::string_view bytes, std::string path) {
  return std::shared_ptr<InputFile>(
      new InputFile(std::make_unique<MemoryFile>(bytes), std::move(path), bytes.size()));
}

Status InputFile::read(uint64_t offset, std::span<std::byte> into) const {
  TROUPE_ASSIGN(const size_t read, file_->read(offset, into));
  if (read == into.size()) return {};
  return data_loss(path_ + ": the file ends at byte " + std::to_string(offset + read) + ", but bytes up to " +
                   std::to_string(offset + into.size()) + " are needed");
}

Result<std::string> InputFile::text(uint64_t offset, uint64_t max_bytes) const {
  std::string bytes(std::min(max_bytes, size_ - std::min(offset, size_)), '\0');
  TROUPE_RETURN_IF_FAILED(read(offset, std::as_writable_bytes(std::span(bytes))));
  return bytes;
}

}  // namespace troupe::data
