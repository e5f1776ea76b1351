#include "apps/data/formats/image_survey.h"

#include <algorithm>
#include <array>

#include "apps/data/file_content.h"
#include "kernels/ops/images/codecs.h"

namespace troupe::data {
namespace {

using ImageShape = std::array<int64_t, 3>;  ///< height, width and channels

/// Returns what the header of a file says.
Result<ImageShape> shape_of(std::string_view bytes) {
  ImageShape shape{};
  const auto note = [&](std::span<const int64_t> dims) -> Result<void*> {
    std::copy_n(dims.end() - 3, 3, shape.begin());
    return cancelled("the shape is known");
  };
  Status status;
  switch (image_format(bytes)) {
    case ImageFormat::Jpeg: return jpeg_shape(bytes);
    case ImageFormat::Png: status = decode_png(bytes, 0, false, note); break;
    case ImageFormat::Gif: status = decode_gif(bytes, GifFrames::First, note); break;
    case ImageFormat::Bmp: status = decode_bmp(bytes, 0, note); break;
    case ImageFormat::Unknown: return invalid_argument("the file is no image of a known format");
  }
  if (status.code() != Code::Cancelled) return status;
  return shape;
}

Result<ImageShape> read_shape(Disk& disk, const std::string& file) {
  TROUPE_ASSIGN(const std::string bytes, read_file(disk, file, max_sample_bytes));
  auto shape = shape_of(bytes);
  if (!shape) return data_loss(file + ": " + shape.status().text());
  return shape;
}

int64_t median(std::vector<int64_t> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

}  // namespace

Result<ImageSurvey> survey_images(Disk& disk, const std::string& folder) {
  ImageSurvey survey;
  std::vector<int64_t> heights, widths;
  const auto look = [&](const std::string& file) -> Status {
    TROUPE_ASSIGN(const ImageShape shape, read_shape(disk, file));
    heights.push_back(shape[0]);
    widths.push_back(shape[1]);
    survey.has_colours |= shape[2] > 1;
    return {};
  };
  TROUPE_ASSIGN(survey.classes, survey_classes(disk, *file_kind("images"), folder, look));
  survey.height = median(heights);
  survey.width = median(widths);
  const auto differ = [](const std::vector<int64_t>& sizes) {
    return std::ranges::adjacent_find(sizes, std::not_equal_to()) != sizes.end();
  };
  survey.one_size = !differ(heights) && !differ(widths);
  return survey;
}

}  // namespace troupe::data
