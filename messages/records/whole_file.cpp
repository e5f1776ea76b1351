#include "messages/records/block_buffer.h"
#include "messages/records/record_error.h"
#include "messages/records/record_stream.h"

namespace troupe {
namespace {

class WholeFile final : public RecordStream {
 public:
  explicit WholeFile(std::unique_ptr<ByteSource> source) : buffer_(std::move(source)) {}

  Result<std::optional<std::string_view>> next() override {
    if (returned_) return std::optional<std::string_view>();
    TROUPE_ASSIGN(const std::string_view bytes, buffer_.peek(max_record_bytes + 1));
    if (bytes.size() > max_record_bytes)
      return damaged_record(0, 0, "the file has more than " + std::to_string(max_record_bytes) + " bytes");
    returned_ = true;
    return std::optional(bytes);
  }
  uint64_t number() const override { return 0; }

 private:
  BlockBuffer buffer_;
  bool returned_ = false;
};

}  // namespace

std::unique_ptr<RecordStream> whole_file(std::unique_ptr<ByteSource> source) {
  return std::make_unique<WholeFile>(std::move(source));
}

}  // namespace troupe
