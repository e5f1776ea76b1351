// Decompressor: decompresses bytes as they come, in pieces of any size, with bounded memory. Each form of compression has a
// subclass. Owned by the reader of the bytes; one thread at a time.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "messages/records/compression.h"

namespace troupe {

class Decompressor {
 public:
  Decompressor() = default;
  virtual ~Decompressor() = default;
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;

  /// Gives the next compressed bytes, which must stay where they are until they have been taken.
  virtual void feed(std::string_view bytes) = 0;
  /// Returns how many of the fed bytes have not been taken yet.
  virtual size_t left() const = 0;
  /// Decompresses to `into`, which must not be empty. Returns the number of bytes written, which is 0 only at the end or if more
  /// compressed bytes are needed. Fails with DataLoss where the bytes are damaged.
  virtual Result<size_t> decompress(std::span<char> into) = 0;
  /// Returns whether the last stream has ended; then all bytes that were fed have been taken. Another stream of Gzip or Zstd may
  /// begin with the next byte that is fed.
  virtual bool has_ended() const = 0;
};

/// `compression` is not None. Several streams of Gzip or Zstd may stand one behind the other. Bytes behind the end that begin no
/// stream are passed over, as in TensorFlow; behind a stream of Zstd they are an error.
std::unique_ptr<Decompressor> make_decompressor(Compression compression);

}  // namespace troupe
