#include <cstdlib>
#include <cstring>

#include "kernels/ops/file_numbers.h"
#include "kernels/ops/images/codecs.h"

namespace troupe {
namespace {

constexpr size_t header_size = 32;  ///< of what is read here

struct BmpHeader {
  int64_t pixels_at = 0, width = 0, height = 0, channels = 0;
  int64_t wanted = 0;  ///< channels of the output
  bool top_down = false;

  int64_t row() const { return (channels * width + 3) / 4 * 4; }  ///< bytes of a row in the file
};

Result<BmpHeader> read_header(std::string_view bytes, int channels) {
  if (bytes.size() < header_size)
    return invalid_argument("BMP: a header has at least " + std::to_string(header_size) +
                            " bytes, the file has " + std::to_string(bytes.size()));
  BmpHeader header;
  header.pixels_at = number_at<uint32_t>(bytes, 10);
  header.width = static_cast<int32_t>(number_at<uint32_t>(bytes, 18));
  header.height = static_cast<int32_t>(number_at<uint32_t>(bytes, 22));
  header.top_down = header.height < 0;
  header.height = std::abs(header.height);
  const auto bits = number_at<uint16_t>(bytes, 28), compression = number_at<uint16_t>(bytes, 30);
  if (compression != 0 && compression != 3)  // 3: fields of bits, which are bytes
    return invalid_argument("BMP: compression " + std::to_string(compression) + " is not supported");
  if (bits != 8 && bits != 24 && bits != 32)
    return invalid_argument("BMP: pixels have " + std::to_string(bits) + " bits, supported are 8, 24 and 32");
  header.channels = bits / 8;
  header.wanted = channels == 0 ? header.channels : channels;
  if (header.wanted != header.channels && (header.wanted == 1 || header.channels == 1))
    return invalid_argument("BMP: the file has " + std::to_string(header.channels) +
                            " channels, which cannot be made " + std::to_string(channels));
  return header;
}

/// Copies a row. The file has blue, green, red; alpha that it does not have is 255.
void copy_row(const uint8_t* from, const BmpHeader& header, uint8_t* to) {
  if (header.channels == 1)
    return static_cast<void>(std::memcpy(to, from, static_cast<size_t>(header.width)));
  for (int64_t x = 0; x < header.width; ++x, from += header.channels, to += header.wanted) {
    to[0] = from[2];
    to[1] = from[1];
    to[2] = from[0];
    if (header.wanted == 4) to[3] = header.channels == 4 ? from[3] : 255;
  }
}

}  // namespace

Status decode_bmp(std::string_view bytes, int channels, AllocateImage allocate) {
  TROUPE_ASSIGN(const BmpHeader header, read_header(bytes, channels));
  const std::array dims{header.height, header.width, header.wanted};
  TROUPE_RETURN_IF_FAILED(check_image_dims("BMP", dims));
  const int64_t needed =
      header.pixels_at + (header.height - 1) * header.row() + header.width * header.channels;
  if (needed > static_cast<int64_t>(bytes.size()))
    return invalid_argument("BMP: the pixels end at byte " + std::to_string(needed) + ", the file has " +
                            std::to_string(bytes.size()) + " bytes");
  TROUPE_ASSIGN(void* const memory, allocate(dims));
  auto* to = static_cast<uint8_t*>(memory);
  const auto* const from = reinterpret_cast<const uint8_t*>(bytes.data()) + header.pixels_at;
  for (int64_t y = 0; y < header.height; ++y, to += header.width * header.wanted)
    copy_row(from + (header.top_down ? y : header.height - 1 - y) * header.row(), header, to);
  return {};
}

}  // namespace troupe
