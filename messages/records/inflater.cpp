#include "messages/records/inflater.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

namespace troupe {

namespace {

constexpr Bytef gzip_magic = 0x1f;

/// zlib counts with 32 bits.
uInt piece_of(size_t bytes) {
  return static_cast<uInt>(std::min<size_t>(bytes, std::numeric_limits<uInt>::max()));
}

}  // namespace

struct Inflater::Stream {
  z_stream z = {};
  bool ready = false;
  std::string_view rest = {};  ///< compressed bytes that zlib has not been given yet

  void take_piece() {
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest.data()));  // zlib does not write there
    z.avail_in = piece_of(rest.size());
    rest.remove_prefix(z.avail_in);
  }
};

Inflater::Inflater(Compression compression)
    : stream_(std::make_unique<Stream>()), may_repeat_(compression == Compression::Gzip) {
  constexpr int window = MAX_WBITS, with_gzip_header = 16;
  int form = window;
  if (compression == Compression::Gzip) form += with_gzip_header;
  if (compression == Compression::Deflate) form = -window;  // zlib's sign for a stream without a header
  stream_->ready = inflateInit2(&stream_->z, form) == Z_OK;
}

Inflater::~Inflater() {
  if (stream_->ready) inflateEnd(&stream_->z);
}

void Inflater::feed(std::string_view bytes) {
  stream_->rest = bytes;
  stream_->z.avail_in = 0;
}

size_t Inflater::left() const { return stream_->z.avail_in + stream_->rest.size(); }

Status Inflater::continue_behind() {
  Stream& stream = *stream_;
  if (stream.z.avail_in == 0 && stream.rest.empty()) return {};
  const Bytef first = stream.z.avail_in != 0 ? *stream.z.next_in : static_cast<Bytef>(stream.rest[0]);
  may_repeat_ = may_repeat_ && first == gzip_magic;
  if (!may_repeat_) {
    feed({});
    return {};
  }
  if (inflateReset(&stream.z) != Z_OK) return internal("zlib cannot begin again");
  ended_ = false;
  return {};
}

Result<size_t> Inflater::decompress(std::span<char> into) {
  Stream& stream = *stream_;
  if (!stream.ready) return resource_exhausted("there is no memory to decompress");
  const uInt room = piece_of(into.size());
  stream.z.next_out = reinterpret_cast<Bytef*>(into.data());
  stream.z.avail_out = room;
  while (stream.z.avail_out == room) {
    if (ended_) TROUPE_RETURN_IF_FAILED(continue_behind());
    if (ended_) break;
    if (stream.z.avail_in == 0) stream.take_piece();
    const int code = ::inflate(&stream.z, Z_NO_FLUSH);
    ended_ = code == Z_STREAM_END;
    if (code == Z_BUF_ERROR && stream.z.avail_in == 0) break;  // it needs more bytes
    if (code == Z_OK || ended_ || stream.z.avail_out != room)
      continue;  // zlib fails again behind the bytes it wrote
    if (code == Z_MEM_ERROR) return resource_exhausted("there is no memory to decompress");
    return data_loss(stream.z.msg ? stream.z.msg : "the compressed bytes are damaged");
  }
  return room - stream.z.avail_out;
}

}  // namespace troupe
