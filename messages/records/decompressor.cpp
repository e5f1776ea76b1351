#include "messages/records/decompressor.h"

#include "messages/records/inflater.h"
#include "messages/records/zstd_decompressor.h"

namespace troupe {

std::unique_ptr<Decompressor> make_decompressor(Compression compression) {
  if (compression == Compression::Zstd) return std::make_unique<ZstdDecompressor>();
  return std::make_unique<Inflater>(compression);
}

}  // namespace troupe
