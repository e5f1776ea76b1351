// ResizeArea(images, size): images of another size, as floats; each pixel is the mean of the area of the original that it covers.
// With align_corners the areas are as large as the distance of two pixels, and the last may reach beyond the border, where the
// pixels at the border repeat.
#include "kernels/core/arguments.h"
#include "kernels/ops/images/taps.h"

namespace troupe {
namespace {

/// The share of a pixel that lies between two points.
float share(int64_t pixel, float begin, float end, float step) {
  const auto from = static_cast<float>(pixel), to = static_cast<float>(pixel + 1);
  if (from < begin) return to > end ? step : to - begin;
  return to > end ? end - from : 1.0F;
}

Taps area_taps(const Sampling& sampling) {
  Taps taps;
  const bool one_point = sampling.step == 0;  // all corners of an image of one pixel
  for (int64_t i = 0; i < sampling.resized; ++i) {
    const float begin = static_cast<float>(i) * sampling.step,
                end = static_cast<float>(i + 1) * sampling.step;
    const auto last = static_cast<int64_t>(std::ceil(end));
    for (auto pixel = static_cast<int64_t>(std::floor(begin)); pixel < last; ++pixel)
      taps.add(sampling.inside(pixel), share(pixel, begin, end, sampling.step));
    if (one_point) taps.add(0, 1);
    taps.end_pixel();
  }
  return taps;
}

}  // namespace

Result<TapsArguments> check_area(KernelContext& context) {
  TROUPE_ASSIGN(const ResizeArguments images, check_resize(context));
  TapsArguments arguments = TapsArguments::of(images, area_taps);
  const auto extent = [](const Sampling& sampling) { return sampling.step == 0 ? 1 : sampling.step; };
  arguments.scale = 1 / (extent(images.rows) * extent(images.columns));
  return arguments;
}

void add_resize_area(OpLibrary& library) {
  library.op(OpDefBuilder("ResizeArea")
                 .input("images: T")
                 .host_input("size: int32")
                 .output("resized_images: float")
                 .attr(resized_types)
                 .attr("align_corners: bool = false")
                 .constructor("resize_area(images, size, align_corners)")
                 .shape(resize_shape));
  library.kernel(cpu_kernel("ResizeArea", check_area, sum_taps));
}

}  // namespace troupe
