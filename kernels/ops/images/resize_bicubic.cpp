// Images of another size, each pixel of which is a cubic function of the nearest four by four pixels of the original (R. G. Keys:
// "Cubic convolution interpolation for digital image processing", 1981). As in TensorFlow, positions count in steps of 1/1024
// pixel, and the parameter of the cubic is -0.75; with half_pixel_centers it is -0.5, and pixels beyond the border, which otherwise
// repeat those at the border, have weight 0.
//   ResizeBicubic(images, size)               floats
//   ResizeBicubicGrad(grads, original_image)  the gradient by the original image
#include <algorithm>
#include <limits>

#include "graph/build/gradients.h"
#include "kernels/core/arguments.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/ops/images/taps.h"

namespace troupe {
namespace {

constexpr float steps = 1024;  ///< of a pixel

/// The weights of the pixels at distances x and x + 1 of a point.
float near_weight(double a, double x) { return static_cast<float>(((a + 2) * x - (a + 3)) * x * x + 1); }
float far_weight(double a, double x) {
  return static_cast<float>(((a * (x + 1) - 5 * a) * (x + 1) + 8 * a) * (x + 1) - 4 * a);
}

Taps cubic_taps(const Sampling& sampling) {
  const double a = sampling.half_pixel ? -0.5 : -0.75;
  Taps taps;
  for (int64_t i = 0; i < sampling.resized; ++i) {
    const float place = sampling.at(i), whole = std::floor(place);
    const auto first = static_cast<int64_t>(whole);
    const double x = std::nearbyint((place - whole) * steps) / steps;
    float weights[] = {far_weight(a, x), near_weight(a, x), near_weight(a, 1 - x), far_weight(a, 1 - x)};
    if (sampling.half_pixel) {
      float sum = 0;
      for (int64_t k = 0; k < 4; ++k) {
        if (sampling.inside(first - 1 + k) != first - 1 + k) weights[k] = 0;
        sum += weights[k];
      }
      if (std::abs(sum) >= 1000 * std::numeric_limits<float>::min())
        for (float& weight : weights) weight *= 1 / sum;
    }
    for (int64_t k = 0; k < 4; ++k) taps.add(sampling.inside(first - 1 + k), weights[k]);
    taps.end_pixel();
  }
  return taps;
}

void bicubic_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const DType dtype = scope.dtype(context.input(0));
  if (dtype != DType::Float && dtype != DType::Double) return;  // as in TensorFlow
  context.set(
      0, scope.add_one("ResizeBicubicGrad", {context.gradient(), context.input(0)}, sampling_attrs(context)));
}

void second_bicubic_gradient(GradientContext& context) { set_second_gradient(context, "ResizeBicubic"); }

}  // namespace

Result<TapsArguments> check_bicubic(KernelContext& context) {
  TROUPE_ASSIGN(const ResizeArguments images, check_resize(context));
  return TapsArguments::of(images, cubic_taps);
}

Result<TapsArguments> check_bicubic_gradient(KernelContext& context) {
  TROUPE_ASSIGN(const ResizeArguments images, check_resize_gradient(context));
  return TapsArguments::of_gradient(images, cubic_taps);
}

void add_resize_bicubic_ops(OpLibrary& library) {
  library.op(resize_op("ResizeBicubic", "float")
                 .constructor("resize_bicubic(images, size, align_corners, half_pixel_centers)")
                 .gradient(bicubic_gradient));
  library.op(resize_gradient_op("ResizeBicubicGrad", "T: {float, double}").gradient(second_bicubic_gradient));
  library.kernel(cpu_kernel("ResizeBicubic", check_bicubic, sum_taps));
  library.kernel(cpu_kernel("ResizeBicubicGrad", check_bicubic_gradient, sum_taps));
}

}  // namespace troupe
