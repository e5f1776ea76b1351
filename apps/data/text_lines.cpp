#include "apps/data/text_lines.h"

#include <algorithm>

namespace troupe::data {
namespace {

constexpr size_t buffer_size = 256 << 10;
constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

}  // namespace

Result<std::optional<std::string_view>> TextLines::next() {
  for (size_t searched = 0;;) {
    const size_t end = buffer_.find('\n', at_ + searched);
    if (end != std::string::npos) return take(end - at_, 1);
    searched = buffer_.size() - at_;
    if (searched > max_line)
      return data_loss(file_->path() + ": row " + std::to_string(row_ + 1) + ": the line is longer than " +
                       std::to_string(max_line >> 20) + " MiB");
    TROUPE_ASSIGN(const bool more, fill());
    if (more) continue;
    if (searched == 0) return std::optional<std::string_view>();
    return take(searched, 0);
  }
}

std::optional<std::string_view> TextLines::take(size_t length, size_t end) {
  std::string_view line(buffer_.data() + at_, length);
  at_ += length + end;
  if (++row_ == 1 && line.starts_with(byte_order_mark)) line.remove_prefix(byte_order_mark.size());
  return line;
}

Result<bool> TextLines::fill() {
  buffer_.erase(0, at_);
  buffer_begin_ += at_;
  at_ = 0;
  const size_t kept = buffer_.size();
  buffer_.resize(kept + std::max(buffer_size, kept));
  const auto more = std::as_writable_bytes(std::span(buffer_).subspan(kept));
  const auto read = file_->read_some(buffer_begin_ + kept, more);
  buffer_.resize(kept + (read ? *read : 0));
  TROUPE_RETURN_IF_FAILED(read.status());
  return *read != 0;
}

void TextLines::seek(uint64_t offset, uint64_t row) {
  row_ = row;
  if (offset >= buffer_begin_ && offset <= buffer_begin_ + buffer_.size()) {
    at_ = offset - buffer_begin_;
    return;
  }
  buffer_.clear();
  buffer_begin_ = offset;
  at_ = 0;
}

}  // namespace troupe::data
