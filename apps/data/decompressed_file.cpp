#include "apps/data/decompressed_file.h"

#include <utility>

namespace troupe::data {

Status DecompressedFile::go_to(uint64_t offset) {
  auto source = std::move(source_);  // which is dropped if it fails
  if (!source || offset < position_) {
    source = source_of(stored_, compression_, place_);
    position_ = 0;
  }
  TROUPE_ASSIGN(const uint64_t skipped, source->skip(offset - position_));
  position_ += skipped;
  source_ = std::move(source);
  return {};
}

Result<uint64_t> DecompressedFile::size() {
  if (!size_) {
    TROUPE_RETURN_IF_FAILED(go_to(UINT64_MAX));
    size_ = position_;
  }
  return *size_;
}

Result<size_t> DecompressedFile::read(uint64_t offset, std::span<std::byte> into) {
  TROUPE_RETURN_IF_FAILED(go_to(offset));
  if (position_ < offset) return size_t{0};
  size_t done = 0;
  auto source = std::move(source_);
  while (done < into.size()) {
    const auto rest = into.subspan(done);
    TROUPE_ASSIGN(const size_t bytes, source->read({reinterpret_cast<char*>(rest.data()), rest.size()}));
    if (bytes == 0) break;
    done += bytes;
    position_ += bytes;
  }
  source_ = std::move(source);
  return done;
}

}  // namespace troupe::data
