// BlockBuffer: reads a ByteSource in blocks and shows the bytes in one piece, as many as a record needs. Its memory is at most a
// block and twice the bytes that were shown, whatever length a file announces. Owned by a RecordStream; one thread at a time.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "messages/records/byte_source.h"

namespace troupe {

class BlockBuffer {
 public:
  static constexpr size_t block_bytes = size_t{256} << 10;

  explicit BlockBuffer(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}

  /// Returns the next bytes, without passing over them: `least` or more, or all that remain. They are valid until the next call.
  Result<std::string_view> peek(size_t least) {
    if (least > end_ - begin_) TROUPE_RETURN_IF_FAILED(fill(least));
    return there();
  }
  /// Returns the bytes that peek() would return without reading.
  std::string_view there() const { return {bytes_.data() + begin_, end_ - begin_}; }
  /// Passes over bytes that are there.
  void take(size_t bytes) {
    begin_ += bytes;
    offset_ += bytes;
  }
  /// Passes over bytes that need not be there. Returns their number, which is less than asked for only at the end.
  Result<uint64_t> skip(uint64_t bytes);
  /// Returns the number of bytes that were passed over.
  uint64_t offset() const { return offset_; }

 private:
  Status fill(size_t least);

  const std::unique_ptr<ByteSource> source_;
  std::vector<char> bytes_;
  size_t begin_ = 0, end_ = 0;  ///< of the bytes that are there
  uint64_t offset_ = 0;
  bool at_end_ = false;  ///< the source has ended
};

}  // namespace troupe
