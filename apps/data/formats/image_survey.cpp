#include "apps/data/formats/image_survey.h"

#include <algorithm>
#include <array>

#include "apps/data/file_content.h"
#include "apps/data/formats/images.h"
#include "kernels/ops/images/codecs.h"

namespace troupe::data {
namespace {

/// How many images of a class are looked at.
constexpr int64_t most_of_class = 20;

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
  TROUPE_ASSIGN(const std::string bytes, read_file(disk, file, max_image_bytes));
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
  TROUPE_ASSIGN(const auto classes, image_classes(disk, std::span(&folder, 1)));
  if (classes.size() < 2)
    return invalid_argument(folder + ": there must be a folder for each class, with its images, but there " +
                            (classes.empty() ? "is none" : "is only '" + *classes.begin() + "'"));
  for (const std::string& name : classes) {
    const std::string path = std::string(folder).append("/").append(name);
    const auto files = image_files(disk, std::span(&path, 1));
    if (!files) return invalid_argument(files.status().text());
    const auto count = static_cast<int64_t>(files->size());
    survey.classes.emplace_back(name, count);
    survey.images += count;
    for (int64_t i = 0; i < std::min(count, most_of_class); ++i) {
      TROUPE_ASSIGN(const ImageShape shape, read_shape(disk, (*files)[static_cast<size_t>(i)]));
      heights.push_back(shape[0]);
      widths.push_back(shape[1]);
      survey.has_colours |= shape[2] > 1;
    }
  }
  survey.height = median(heights);
  survey.width = median(widths);
  const auto differ = [](const std::vector<int64_t>& sizes) {
    return std::ranges::adjacent_find(sizes, std::not_equal_to()) != sizes.end();
  };
  survey.one_size = !differ(heights) && !differ(widths);
  return survey;
}

}  // namespace troupe::data
