#include "messages/records/block_buffer.h"

#include <algorithm>

namespace troupe {

Status BlockBuffer::fill(size_t least) {
  std::copy(bytes_.begin() + static_cast<ptrdiff_t>(begin_), bytes_.begin() + static_cast<ptrdiff_t>(end_),
            bytes_.begin());
  end_ -= begin_;
  begin_ = 0;
  while (end_ < least && !at_end_) {
    // The buffer is full only if a record is longer than it.
    if (end_ == bytes_.size()) bytes_.resize(std::max(block_bytes, 2 * end_));
    TROUPE_ASSIGN(const size_t bytes, source_->read(std::span(bytes_).subspan(end_)));
    at_end_ = bytes == 0;
    end_ += bytes;
  }
  return {};
}

Result<uint64_t> BlockBuffer::skip(uint64_t bytes) {
  const size_t near = static_cast<size_t>(std::min<uint64_t>(bytes, end_ - begin_));
  take(near);
  if (near == bytes || at_end_) return near;
  TROUPE_ASSIGN(const uint64_t far, source_->skip(bytes - near));
  offset_ += far;
  return near + far;
}

}  // namespace troupe
