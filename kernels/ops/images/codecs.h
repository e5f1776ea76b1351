// Files of images: JPEG, PNG, GIF and BMP. Every byte of a file may be wrong or hostile; a file that cannot be decoded ends with
// InvalidArgument, which names the format and says what is wrong. Nothing is printed. Pure functions; any thread may call them.
//
// Limits: an image has less than 2^29 elements (height times width times channels, all frames together). Before memory is
// allocated, what the header promises is compared with the most that a file of this size can hold, or 64 times that where a JPEG is
// to be completed. A canvas of a GIF can be larger than its frames, so that only the first limit holds for it.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "devices/function_ref.h"
#include "messages/values/status.h"

namespace troupe {

/// Returns memory for the elements of an image of these dimensions.
using AllocateImage = FunctionRef<Result<void*>(std::span<const int64_t> dims)>;

inline constexpr int64_t most_image_elements = (int64_t{1} << 29) - 1;

/// The attribute with which a node that decodes images may have a lower limit.
inline constexpr std::string_view image_elements_attr = "_image_elements";

/// Fails with InvalidArgument, naming the format, if the dimensions have more elements than that, or one is not positive.
Status check_image_dims(std::string_view format, std::span<const int64_t> dims);

enum class ImageFormat : uint8_t { Unknown, Jpeg, Png, Gif, Bmp };
/// Returns the format that the first bytes of a file say.
ImageFormat image_format(std::string_view bytes);

/// A part of an image.
struct ImageWindow {
  int64_t y = 0, x = 0, height = 0, width = 0;
};

struct JpegDecoding {
  int channels = 0;  ///< 1, 3, or 0: those of the file, at most 3
  int ratio = 1;     ///< 1, 2, 4 or 8, by which the image is smaller
  bool fancy_upscaling = true;
  bool fast_dct = true;       ///< libjpeg's IFAST, not ISLOW
  bool recovers = false;      ///< a file that ends too early is completed
  float acceptable_part = 1;  ///< the least part of the rows that the file must have; the others are black
  std::optional<ImageWindow> window = {};
};
/// Decodes bytes [height, width, channels].
Status decode_jpeg(std::string_view bytes, const JpegDecoding& decoding, AllocateImage allocate);
/// Returns height, width and channels.
Result<std::array<int64_t, 3>> jpeg_shape(std::string_view bytes);

struct JpegEncoding {
  int quality = 95;  ///< 0 to 100
  bool progressive = false, optimize_size = false, chroma_downsampling = true;
  int density_unit = 1;  ///< 1: inch, 2: centimetre
  uint16_t x_density = 300, y_density = 300;
  std::string xmp_metadata = {};
};
/// Encodes bytes [height, width, channels], which are 1 or 3.
Result<std::string> encode_jpeg(const uint8_t* pixels, const std::array<int64_t, 3>& dims,
                                const JpegEncoding& encoding);

/// Decodes bytes or words of 16 bits [height, width, channels]; `channels` is 0 for those of the file, or 1, 3 or 4.
Status decode_png(std::string_view bytes, int channels, bool wide, AllocateImage allocate);
/// Encodes bytes or words [height, width, channels], which are 1 to 4. `compression` is 0 to 9, or -1 for the default.
Result<std::string> encode_png(const void* pixels, const std::array<int64_t, 3>& dims, bool wide,
                               int compression);

enum class GifFrames : uint8_t { All, First, Only };
/// Decodes bytes [frames, height, width, 3], or of the first frame, or the only one, [height, width, 3]. The height and width are
/// the greatest of all frames; a frame lies on the one before, the first on black. Of a file that ends too early or is damaged,
/// the frames before count, if there are any; `allocate` is then called once more.
Status decode_gif(std::string_view bytes, GifFrames frames, AllocateImage allocate);

/// Decodes bytes [height, width, channels] of a file without compression; `channels` is 0 for those of the file, or 1, 3 or 4; 3
/// can become 4, and 4 can become 3.
Status decode_bmp(std::string_view bytes, int channels, AllocateImage allocate);

}  // namespace troupe
