// Inflater: decompresses bytes as they come, in pieces of any size. Owned by the reader of the bytes; one thread at a time.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "messages/records/compression.h"

namespace troupe {

class Inflater {
 public:
  /// `compression` is Zlib or Gzip; several streams of Gzip may stand one behind the other.
  explicit Inflater(Compression compression);
  ~Inflater();
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  /// Gives the next compressed bytes, which must stay where they are until they have been taken.
  void feed(std::string_view bytes);
  /// Decompresses to `into`, which must not be empty. Returns the number of bytes written, which is 0 only at the end or if more
  /// compressed bytes are needed. Fails with DataLoss where the bytes are damaged.
  Result<size_t> inflate(std::span<char> into);
  /// Returns whether the last stream has ended; then all bytes that were fed have been taken. Another stream of Gzip may begin with
  /// the next byte that is fed; other bytes are passed over.
  bool has_ended() const { return ended_; }

 private:
  struct Stream;

  /// Begins with the stream behind the one that has ended, if there is one.
  Status continue_behind();

  const std::unique_ptr<Stream> stream_;
  bool may_repeat_;  ///< whether another stream may follow
  bool ended_ = false;
};

}  // namespace troupe
