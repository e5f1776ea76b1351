// Inflater: the decompressor of Zlib, Gzip and Deflate. Owned by the reader of the bytes; one thread at a time.
#pragma once

#include "messages/records/decompressor.h"

namespace troupe {

class Inflater final : public Decompressor {
 public:
  explicit Inflater(Compression compression);
  ~Inflater() override;

  void feed(std::string_view bytes) override;
  size_t left() const override;
  Result<size_t> decompress(std::span<char> into) override;
  bool has_ended() const override { return ended_; }

 private:
  struct Stream;

  /// Begins with the stream behind the one that has ended, if there is one.
  Status continue_behind();

  const std::unique_ptr<Stream> stream_;
  bool may_repeat_;  ///< whether another stream may follow
  bool ended_ = false;
};

}  // namespace troupe
