// ZstdDecompressor: the decompressor of Zstd, frame by frame (RFC 8878). Owned by the reader of the bytes; one thread at a time.
#pragma once

#include "messages/records/decompressor.h"

namespace troupe {

class ZstdDecompressor final : public Decompressor {
 public:
  ZstdDecompressor();
  ~ZstdDecompressor() override;

  void feed(std::string_view bytes) override { fed_ = bytes; }
  size_t left() const override { return fed_.size(); }
  Result<size_t> decompress(std::span<char> into) override;
  bool has_ended() const override { return ended_ && fed_.empty(); }

 private:
  struct Context;

  const std::unique_ptr<Context> context_;
  std::string_view fed_;  ///< the bytes that have not been taken yet
  bool ended_ = false;    ///< the last frame has ended
  Status failure_;        ///< of an earlier call, behind which nothing can be read
};

}  // namespace troupe
