#include "messages/records/block_buffer.h"
#include "messages/records/record_error.h"
#include "messages/records/record_stream.h"

namespace troupe {
namespace {

using Line = Result<std::optional<std::string_view>>;

class TextLines final : public RecordStream {
 public:
  TextLines(std::unique_ptr<ByteSource> source, uint64_t skipped)
      : buffer_(std::move(source)), skipped_(skipped) {}

  Line next() override {
    for (; number_ < skipped_; ++number_) {
      TROUPE_ASSIGN(const auto line, read());
      if (!line) return line;
    }
    TROUPE_ASSIGN(auto line, read());
    if (!line) return line;
    ++number_;
    if (line->ends_with('\r')) line->remove_suffix(1);
    return line;
  }
  uint64_t number() const override { return number_; }

 private:
  /// Returns the next line without its "\n".
  Line read() {
    std::string_view bytes = buffer_.there();
    for (size_t searched = 0;;) {
      if (const size_t end = bytes.find('\n', searched); end != std::string_view::npos)
        return take(bytes, end, 1);
      searched = bytes.size();
      if (searched > max_record_bytes)
        return damaged_record(number_, buffer_.offset(),
                              "the line has more than " + std::to_string(max_record_bytes) + " bytes");
      TROUPE_ASSIGN(bytes, buffer_.peek(searched + 1));
      if (bytes.size() == searched) return searched == 0 ? Line(std::nullopt) : take(bytes, searched, 0);
    }
  }

  Line take(std::string_view bytes, size_t length, size_t end) {
    buffer_.take(length + end);
    return std::optional(bytes.substr(0, length));
  }

  BlockBuffer buffer_;
  const uint64_t skipped_;
  uint64_t number_ = 0;  ///< of lines that were returned or skipped
};

}  // namespace

std::unique_ptr<RecordStream> text_lines(std::unique_ptr<ByteSource> source, uint64_t skipped_lines) {
  return std::make_unique<TextLines>(std::move(source), skipped_lines);
}

}  // namespace troupe
