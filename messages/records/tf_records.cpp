#include <bit>
#include <cstring>

#include "messages/records/block_buffer.h"
#include "messages/records/record_error.h"
#include "messages/records/record_stream.h"
#include "messages/values/crc32c.h"

namespace troupe {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers in files are little-endian");

constexpr size_t header_bytes = sizeof(uint64_t) + sizeof(uint32_t), footer_bytes = sizeof(uint32_t);

template <class T>
T number_at(std::string_view bytes, size_t at) {
  T number;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

/// Returns whether the checksum that stands behind the first `length` bytes is theirs.
bool has_checksum(std::string_view bytes, size_t length) {
  return number_at<uint32_t>(bytes, length) == masked_crc32c(bytes.substr(0, length));
}

class TfRecords final : public RecordStream {
 public:
  explicit TfRecords(std::unique_ptr<ByteSource> source) : buffer_(std::move(source)) {}

  Result<std::optional<std::string_view>> next() override {
    TROUPE_ASSIGN(std::string_view bytes, buffer_.peek(header_bytes));
    if (bytes.empty()) return std::optional<std::string_view>();
    if (bytes.size() < header_bytes) return damaged("the file ends in the length of the record");
    if (!has_checksum(bytes, sizeof(uint64_t))) return damaged("the checksum of its length is wrong");
    const auto length = number_at<uint64_t>(bytes, 0);
    if (length > max_record_bytes)
      return damaged("it has " + std::to_string(length) + " bytes; at most " +
                     std::to_string(max_record_bytes) + " are allowed");
    const size_t whole = header_bytes + length + footer_bytes;
    TROUPE_ASSIGN(bytes, buffer_.peek(whole));
    if (bytes.size() < whole)
      return damaged("the file ends after " + std::to_string(bytes.size()) + " of its " +
                     std::to_string(whole) + " bytes");
    if (!has_checksum(bytes.substr(header_bytes), length))
      return damaged("the checksum of its bytes is wrong");
    number_ = buffer_.offset();
    ++records_;
    buffer_.take(whole);
    return std::optional(bytes.substr(header_bytes, length));
  }
  uint64_t number() const override { return number_; }

 private:
  Status damaged(const std::string& what) const { return damaged_record(records_, buffer_.offset(), what); }

  BlockBuffer buffer_;
  uint64_t number_ = 0, records_ = 0;
};

}  // namespace

std::unique_ptr<RecordStream> tf_records(std::unique_ptr<ByteSource> source) {
  return std::make_unique<TfRecords>(std::move(source));
}

}  // namespace troupe
