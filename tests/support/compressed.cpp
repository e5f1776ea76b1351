#include "tests/support/compressed.h"

#include <zlib.h>
#include <zstd.h>

#include <stdexcept>

namespace troupe::test {
namespace {

std::string with_zstd(const std::string& bytes) {
  std::string result(ZSTD_compressBound(bytes.size()), '\0');
  constexpr int level = 3;
  const size_t size = ZSTD_compress(result.data(), result.size(), bytes.data(), bytes.size(), level);
  if (ZSTD_isError(size)) throw std::runtime_error(ZSTD_getErrorName(size));
  result.resize(size);
  return result;
}

}  // namespace

std::string compressed(const std::string& bytes, Compression compression) {
  if (compression == Compression::None) return bytes;
  if (compression == Compression::Zstd) return with_zstd(bytes);
  z_stream stream = {};
  const int window = compression == Compression::Gzip ? MAX_WBITS + 16 : MAX_WBITS;
  if (deflateInit2(&stream, 6, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("deflateInit2");
  std::string result(deflateBound(&stream, bytes.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  const int code = deflate(&stream, Z_FINISH);
  result.resize(result.size() - stream.avail_out);
  deflateEnd(&stream);
  if (code != Z_STREAM_END) throw std::runtime_error("deflate");
  return result;
}

}  // namespace troupe::test
