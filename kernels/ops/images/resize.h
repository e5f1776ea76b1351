// Resizing of images: what ops share that sample an image [batch, height, width, channels] at a grid of other size. Plain values
// and pure functions; any thread may call them.
#pragma once

#include <algorithm>
#include <cmath>

#include "graph/build/shape_context.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/dims.h"
#include "kernels/core/type_dispatch.h"

namespace troupe {

/// The types of images that are resized.
using ResizedTypes =
    TypeList<float, uint8_t, double, Half, BFloat16, int8_t, int16_t, uint16_t, int32_t, int64_t>;
inline constexpr std::string_view resized_types =
    "T: {int8, uint8, int16, uint16, int32, int64, half, float, double, bfloat16}";

/// How the pixels of one dimension of a resized image lie among those of the original. Positions are floats, as in TensorFlow.
struct Sampling {
  int64_t original = 0, resized = 0;  ///< the number of pixels, less than 2^31
  float step = 0;                     ///< from one pixel to the next
  bool aligned = false;               ///< whether the first and last pixels of both lie on each other
  bool half_pixel = false;            ///< whether pixel i is the point i + 0.5, not i

  Sampling() = default;
  Sampling(int64_t original_pixels, int64_t resized_pixels, const Node& node);

  /// Returns the position of a resized pixel, in pixels of the original.
  float at(int64_t pixel) const {
    const auto place = static_cast<float>(pixel);
    return half_pixel ? (place + 0.5F) * step - 0.5F : place * step;
  }
  /// Returns the pixel of the original that is nearest, in TensorFlow's sense, to a resized pixel.
  int64_t nearest(int64_t pixel) const;
  /// Returns the pixel of the original that is nearest to this number.
  int64_t inside(int64_t pixel) const { return std::clamp<int64_t>(pixel, 0, original - 1); }
};

struct ResizeArguments {
  const Tensor& images;  ///< [batch, height, width, channels]; the gradient: that of the resized images
  Tensor& output;        ///< [batch, height, width, channels]
  Sampling rows, columns;
};

/// Checks (images, size). Fails with InvalidArgument unless images has rank 4 and pixels with channels, and size has two positive
/// elements.
Result<ResizeArguments> check_resize(KernelContext& context);
/// Checks (gradient, size) of ResizeNearestNeighborGrad.
Result<ResizeArguments> check_resize_gradient_to_size(KernelContext& context);
/// Checks (gradient, original images).
Result<ResizeArguments> check_resize_gradient(KernelContext& context);

Status resize_shape(ShapeContext& context);  ///< the images of input 0 with the size that input 1 lists
Status resize_gradient_shape(ShapeContext& context);  ///< the shape of input 1

/// Begins the definition of an op that resizes images; `output` is the type of the resized ones.
OpDefBuilder resize_op(const char* name, const std::string& output);
/// Begins the definition of its gradient by the images, whose types are `types`.
OpDefBuilder resize_gradient_op(const char* name, const char* types);
/// Sets the gradient of the op that resize_gradient_op() defines by its first input, which is linear: `resize` is the op whose
/// gradient it is.
void set_second_gradient(GradientContext& context, const char* resize);
/// Returns the attributes that say where pixels lie, for the op that computes the gradient.
Attributes sampling_attrs(const GradientContext& context);

/// Returns [batch, dims of size..., channels] as far as it is known; `size` is input i, which lists two integers.
Result<PartialShape> sized_images(const ShapeContext& context, size_t i, int64_t batch, int64_t channels);
/// Returns the two elements of the vector. Fails with InvalidArgument unless there are two, and both are positive.
Result<Dims> positive_size(const Tensor& size, std::string_view name);

}  // namespace troupe
