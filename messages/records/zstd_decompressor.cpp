#include "messages/records/zstd_decompressor.h"

#include <zstd.h>
#include <zstd_errors.h>

namespace troupe {
namespace {

/// A frame may refer to bytes that are up to 2^27 = 128 MiB back, which the decompressor keeps; the program zstd has this
/// limit, too.
constexpr int window_log = 27;

Status failure(size_t code) {
  const std::string text = std::string("zstd: ") + ZSTD_getErrorName(code);
  switch (ZSTD_getErrorCode(code)) {
    case ZSTD_error_memory_allocation: return resource_exhausted("there is no memory to decompress");
    case ZSTD_error_frameParameter_windowTooLarge:
      return data_loss(text + "; at most " + std::to_string(1 << (window_log - 20)) + " MiB are allowed");
    default: return data_loss(text);
  }
}

}  // namespace

struct ZstdDecompressor::Context {
  ZSTD_DCtx* zstd = ZSTD_createDCtx();
};

ZstdDecompressor::ZstdDecompressor() : context_(std::make_unique<Context>()) {
  if (context_->zstd) ZSTD_DCtx_setParameter(context_->zstd, ZSTD_d_windowLogMax, window_log);
}

ZstdDecompressor::~ZstdDecompressor() { ZSTD_freeDCtx(context_->zstd); }

Result<size_t> ZstdDecompressor::decompress(std::span<char> into) {
  if (!context_->zstd) return resource_exhausted("there is no memory to decompress");
  TROUPE_RETURN_IF_FAILED(failure_);
  ZSTD_outBuffer out{into.data(), into.size(), 0};
  // Also without more input: what a frame has not been able to write yet comes first.
  while (out.pos == 0 && !has_ended()) {
    ZSTD_inBuffer in{fed_.data(), fed_.size(), 0};
    const size_t code = ZSTD_decompressStream(context_->zstd, &out, &in);
    if (ZSTD_isError(code)) return failure_ = failure(code);
    fed_.remove_prefix(in.pos);
    ended_ = code == 0;
    if (fed_.empty()) break;
  }
  return out.pos;
}

}  // namespace troupe
