#include "messages/records/block_buffer.h"
#include "messages/records/record_error.h"
#include "messages/records/record_stream.h"

namespace troupe {
namespace {

class FixedLengthRecords final : public RecordStream {
 public:
  FixedLengthRecords(std::unique_ptr<ByteSource> source, const FixedLength& length)
      : buffer_(std::move(source)), length_(length), to_skip_(length.header) {}

  Result<std::optional<std::string_view>> next() override {
    if (length_.record > max_record_bytes || length_.footer > max_record_bytes)
      return damaged_record(
          records_, buffer_.offset(),
          "a record and the footer may have " + std::to_string(max_record_bytes) + " bytes each");
    if (to_skip_ != 0) {
      TROUPE_ASSIGN(const uint64_t skipped, buffer_.skip(to_skip_));
      to_skip_ -= skipped;
      if (to_skip_ != 0) return std::optional<std::string_view>();
    }
    const size_t needed = length_.record + length_.footer;
    TROUPE_ASSIGN(const std::string_view bytes, buffer_.peek(needed));
    if (bytes.size() < needed) return std::optional<std::string_view>();
    ++records_;
    to_skip_ = length_.hop;
    return std::optional(bytes.substr(0, length_.record));
  }
  uint64_t number() const override { return records_ - 1; }

 private:
  BlockBuffer buffer_;
  const FixedLength length_;
  uint64_t to_skip_;  ///< bytes before the next record
  uint64_t records_ = 0;
};

}  // namespace

std::unique_ptr<RecordStream> fixed_length_records(std::unique_ptr<ByteSource> source,
                                                   const FixedLength& length) {
  return std::make_unique<FixedLengthRecords>(std::move(source), length);
}

}  // namespace troupe
