// ImageProjectiveTransformV2 and V3 and their gradient: the check on the host, the arguments that it returns to the compute
// functions of each type of device (kernels/core/checked_kernel.h), and where pixels come from. Any thread may call the functions.
#pragma once

#include <cmath>
#include <limits>

#include "kernels/core/checked_kernel.h"
#include "kernels/gpu/any.h"

namespace troupe {

/// Which pixels lie around an image.
enum class Border : uint8_t {
  Constant,  ///< one value
  Reflect,   ///< d c b a | a b c d | d c b a
  Wrap,      ///< a b c d | a b c d | a b c d
  Nearest,   ///< a a a a | a b c d | d d d d
};

/// Returns a position in an axis of `size` pixels that has the same value as one which may lie outside; for Border::Constant the
/// position itself. NaN stays NaN. As TensorFlow does, Wrap counts periods by the distance of the outermost pixels.
TROUPE_ANY inline float inside(Border border, float at, int64_t size) {
  if (border == Border::Constant || std::isnan(at)) return at;
  constexpr float far = 1e15F;  // where integers still hold it
  at = std::fmin(std::fmax(at, -far), far);
  const auto last = static_cast<float>(size - 1);
  if (border != Border::Nearest && size > 1 && (at < 0 || at > last)) {
    const int64_t period = border == Border::Reflect ? 2 * size : size - 1;
    const auto turns = static_cast<int64_t>(std::fabs(at) / static_cast<float>(period));
    const auto length = static_cast<float>(size);
    if (border == Border::Wrap)
      at += at < 0 ? static_cast<float>(size * (turns + 1)) : -static_cast<float>(size * turns);
    else if (at < 0) {
      at += static_cast<float>(period * turns);
      at = at < -length ? at + static_cast<float>(period) : -at - 1;
    } else {
      at -= static_cast<float>(period * turns);
      if (at >= length) at = static_cast<float>(period) - at - 1;
    }
  }
  return std::fmin(std::fmax(at, 0.0F), last);
}

/// The images [batch, height, width, channels] from which the pixels come, and the pixels [batch, rows, columns, channels].
struct ProjectiveArguments {
  const Tensor& from;  ///< the images; of the gradient that of the pixels
  const Tensor& transforms;
  Tensor& output;  ///< the pixels; of the gradient that of the images
  int64_t batch, height, width, rows, columns, channels;
  bool bilinear;
  Border border;
  float fill;        ///< the value of pixels around the images, for Border::Constant
  Tensor sums = {};  ///< of the gradient of half and bfloat16 on CPUs: what is rounded to the output
};

/// Fail with InvalidArgument if shapes do not fit.
Result<ProjectiveArguments> check_projective(KernelContext& context);
Result<ProjectiveArguments> check_projective_gradient(KernelContext& context);

/// The pixels of an image from which one is made: none, one, or two by two with weights. Their numbers are those in the image, and
/// -1 for pixels that lie outside.
struct SourcePixels {
  int count = 0;
  int64_t numbers[4] = {};  ///< top left, top right, bottom left, bottom right
  float left = 1, right = 0, top = 1, bottom = 0;

  /// Returns the pixel, of at least one: value(number) is that of one pixel.
  template <class Value>
  TROUPE_ANY auto at(const Value& value) const {
    if (count == 1) return value(numbers[0]);
    const auto above = left * value(numbers[0]) + right * value(numbers[1]);
    const auto below = left * value(numbers[2]) + right * value(numbers[3]);
    return top * above + bottom * below;
  }
  /// Calls add(number, weight) for each of the pixels.
  template <class Add>
  void each(const Add& add) const {
    const float weights[] = {top * left, top * right, bottom * left, bottom * right};
    for (int i = 0; i < count; ++i) add(numbers[i], weights[i]);
  }
};

/// Finds from which pixels of its image each pixel is made. The transforms lie in the memory of the device.
struct Projection {
  const float* transforms;
  bool single;  ///< whether all images have the same transform
  int64_t height, width;
  bool bilinear;
  Border border;

  explicit Projection(const ProjectiveArguments& arguments)
      : transforms(arguments.transforms.as<float>().data()), single(arguments.transforms.shape()[0] == 1),
        height(arguments.height), width(arguments.width), bilinear(arguments.bilinear),
        border(arguments.border) {}

  /// Returns no pixel for what lies infinitely far away, and where that is not known.
  TROUPE_ANY SourcePixels operator()(int64_t image, int64_t row, int64_t column) const {
    const float* const t = transforms + (single ? 0 : 8 * image);
    const auto y = static_cast<float>(row), x = static_cast<float>(column);
    const float depth = t[6] * x + t[7] * y + 1.0F;
    if (depth == 0) return {};
    const float from_x = inside(border, (t[0] * x + t[1] * y + t[2]) / depth, width);
    const float from_y = inside(border, (t[3] * x + t[4] * y + t[5]) / depth, height);
    if (!std::isfinite(from_x) || !std::isfinite(from_y)) return {};
    if (!bilinear) return {1, {number(std::round(from_y), std::round(from_x))}};
    const float left = std::floor(from_x), top = std::floor(from_y);
    const float right = left + 1, bottom = top + 1;
    return {4,
            {number(top, left), number(top, right), number(bottom, left), number(bottom, right)},
            right - from_x,
            from_x - left,
            bottom - from_y,
            from_y - top};
  }

 private:
  TROUPE_ANY int64_t number(float y, float x) const {
    const bool is_inside =
        y >= 0 && y < static_cast<float>(height) && x >= 0 && x < static_cast<float>(width);
    return is_inside ? static_cast<int64_t>(y) * width + static_cast<int64_t>(x) : -1;
  }
};

}  // namespace troupe
