#include "apps/data/text_lines.h"

#include <algorithm>

namespace troupe::data {
namespace {

constexpr size_t buffer_size = 256 << 10;
constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

}  // namespace

Result<std::optional<std::string_view>> TextLines::next() {
  uint64_t lines = 0;  // of the row that are complete, and their bytes
  size_t complete = 0;
  for (size_t searched = 0;;) {
    const size_t end = buffer_.find('\n', at_ + searched);
    if (end != std::string::npos) {
      ++lines;
      searched = end + 1 - at_;
      if (!goes_on(complete, searched)) return take(searched - 1, 1, lines);
      complete = searched;
      continue;
    }
    searched = buffer_.size() - at_;
    if (searched > max_line)
      return data_loss(file_->path() + ": row " + std::to_string(lines_ + 1) + ": the row is longer than " +
                       std::to_string(max_line >> 20) + " MiB");
    TROUPE_ASSIGN(const bool more, fill());
    if (more) continue;
    if (searched == 0) return std::optional<std::string_view>();
    if (searched == complete) return take(searched, 0, lines);
    goes_on(complete, searched);
    return take(searched, 0, lines + 1);
  }
}

bool TextLines::goes_on(size_t begin, size_t end) const {
  if (!goes_on_) return false;
  std::string_view line(buffer_.data() + at_ + begin, end - begin);
  if (lines_ == 0 && begin == 0 && line.starts_with(byte_order_mark))
    line.remove_prefix(byte_order_mark.size());
  return goes_on_(line);
}

std::optional<std::string_view> TextLines::take(size_t length, size_t end, uint64_t lines) {
  std::string_view row(buffer_.data() + at_, length);
  at_ += length + end;
  row_ = lines_ + 1;
  lines_ += lines;
  if (row_ == 1 && row.starts_with(byte_order_mark)) row.remove_prefix(byte_order_mark.size());
  return row;
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

void TextLines::seek(uint64_t offset, uint64_t lines) {
  row_ = lines_ = lines;
  if (offset >= buffer_begin_ && offset <= buffer_begin_ + buffer_.size()) {
    at_ = offset - buffer_begin_;
    return;
  }
  buffer_.clear();
  buffer_begin_ = offset;
  at_ = 0;
}

}  // namespace troupe::data
