// Whatever the bytes of a file are, decoding ends with an image or with a Status, and writes to the memory of the image alone.
// What was decoded and encoded as PNG is decoded as the same. The last byte of the file, which no format needs, chooses how it is
// decoded. For libFuzzer (tests/fuzz/CMakeLists.txt).
#include <vector>

#include "kernels/ops/images/codecs.h"

namespace troupe {
namespace {

/// An image in memory of exactly its size.
struct Image {
  std::vector<int64_t> dims;
  size_t element_size = 1;
  std::vector<uint8_t> bytes;

  Result<void*> allocate(std::span<const int64_t> wanted) {
    dims.assign(wanted.begin(), wanted.end());
    size_t size = element_size;
    for (const int64_t dim : dims) size *= static_cast<size_t>(dim);
    bytes = std::vector<uint8_t>(size);
    return static_cast<void*>(bytes.data());
  }
};

Status decode(std::string_view file, uint8_t choice, Image& image) {
  const auto allocate = [&](std::span<const int64_t> dims) { return image.allocate(dims); };
  constexpr int channels[] = {0, 1, 3, 4};
  const int wanted = channels[choice % 4];
  switch (image_format(file)) {
    case ImageFormat::Png:
      image.element_size = choice & 4 ? 2 : 1;
      return decode_png(file, wanted, (choice & 4) != 0, allocate);
    case ImageFormat::Gif: return decode_gif(file, static_cast<GifFrames>(choice % 3), allocate);
    case ImageFormat::Bmp: return decode_bmp(file, wanted, allocate);
    default: break;
  }
  JpegDecoding decoding;
  decoding.channels = wanted == 4 ? 0 : wanted;
  decoding.ratio = 1 << choice / 4 % 4;
  decoding.fancy_upscaling = (choice & 16) != 0;
  decoding.fast_dct = (choice & 32) != 0;
  decoding.recovers = (choice & 64) != 0;
  decoding.acceptable_part = choice & 16 ? 1.0F : 0.1F;
  if (choice & 128) decoding.window = {choice % 8, choice % 4, 1 + choice % 5, 1 + choice % 9};
  const auto shape = jpeg_shape(file);
  const Status status = decode_jpeg(file, decoding, allocate);
  if (status.ok() && !shape && !decoding.recovers) __builtin_trap();
  return status;
}

void check_png(const Image& image) {
  const std::array dims{image.dims[0], image.dims[1], image.dims[2]};
  const bool wide = image.element_size == 2;
  const auto file = encode_png(image.bytes.data(), dims, wide, 1);
  Image again;
  again.element_size = image.element_size;
  const auto allocate = [&](std::span<const int64_t> wanted) { return again.allocate(wanted); };
  if (!file || !decode_png(*file, 0, wide, allocate).ok() || again.dims != image.dims ||
      again.bytes != image.bytes)
    __builtin_trap();
}

}  // namespace
}  // namespace troupe

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {  // NOLINT: libFuzzer's name
  if (size == 0) return 0;
  troupe::Image image;
  const std::string_view file(reinterpret_cast<const char*>(data), size);
  const troupe::Status status = troupe::decode(file, data[size - 1], image);
  if (!status.ok() && status.message().empty()) __builtin_trap();
  if (status.ok() && image.dims.size() == 3 && image.bytes.size() < 4096) troupe::check_png(image);
  return 0;
}
