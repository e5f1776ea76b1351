#include "kernels/ops/images/codecs.h"

#include "messages/values/shape.h"

namespace troupe {

Status check_image_dims(std::string_view format, std::span<const int64_t> dims) {
  int64_t elements = 1;
  bool fits = true;
  for (const int64_t dim : dims)
    fits = fits && dim > 0 && !__builtin_mul_overflow(elements, dim, &elements) &&
           elements <= most_image_elements;
  if (fits) return {};
  return invalid_argument(std::string(format) + ": an image of shape " + text_of(dims) + " must have 1 to " +
                          std::to_string(most_image_elements) + " elements");
}

ImageFormat image_format(std::string_view bytes) {
  if (bytes.starts_with("\xff\xd8\xff")) return ImageFormat::Jpeg;
  if (bytes.starts_with("\x89PNG\r\n\x1a\n")) return ImageFormat::Png;
  if (bytes.starts_with("GIF8")) return ImageFormat::Gif;
  if (bytes.starts_with("BM")) return ImageFormat::Bmp;
  return ImageFormat::Unknown;
}

}  // namespace troupe
