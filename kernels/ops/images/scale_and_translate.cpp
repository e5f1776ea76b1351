// ScaleAndTranslate(images, size, scale, translation): images of another size, each pixel of which is a weighted sum of
// pixels of the original around the point from which it comes: point p of the output comes from (p - translation) / scale.
// scale, above 0, and translation are vectors [2]: of rows and columns. Pixel i is the point i + 0.5. The weights are those
// of a kernel, divided by their sum; with antialias the kernel is stretched by 1 / scale where the image shrinks. A pixel
// from outside of the image is 0.
//   kernel_type  lanczos1, lanczos3, lanczos5, gaussian (deviation 0.5), box, triangle, keyscubic (R. G. Keys 1981),
//                mitchellcubic (D. P. Mitchell and A. N. Netravali 1988); capital letters count as small ones
// ScaleAndTranslateGrad(grads, original_image, scale, translation): the gradient by the original image, floats
#include <cmath>
#include <limits>
#include <numbers>

#include "graph/build/gradients.h"
#include "kernels/constructors.h"
#include "kernels/core/arguments.h"
#include "kernels/core/text.h"
#include "kernels/ops/images/taps.h"

namespace troupe {
namespace {

// ---- Kernels: the weight of a pixel at a distance, which is not negative

template <int radius>
float lanczos(float x) {
  constexpr float r = radius, pi = std::numbers::pi_v<float>;
  if (x > r) return 0;
  if (x <= 1e-3F) return 1;
  return r * std::sin(pi * x) * std::sin(pi * x / r) / (pi * pi * x * x);
}
float gaussian(float x) {
  constexpr float deviation = 0.5F;
  return x >= 3 * deviation ? 0 : std::exp(-x * x / (2 * deviation * deviation));
}
float box(float x) { return x < 0.5F ? 1 : x == 0.5F ? 0.5F : 0; }
float triangle(float x) { return x < 1 ? 1 - x : 0; }
float keys_cubic(float x) {
  if (x >= 2) return 0;
  return x >= 1 ? ((-0.5F * x + 2.5F) * x - 4) * x + 2 : (1.5F * x - 2.5F) * x * x + 1;
}
float mitchell_cubic(float x) {
  if (x >= 2) return 0;
  return x >= 1 ? ((-7.0F / 18 * x + 2) * x - 10.0F / 3) * x + 16.0F / 9
                : (7.0F / 6 * x - 2) * x * x + 8.0F / 9;
}

struct SamplingKernel {
  std::string_view name;
  float radius;
  float (*weight)(float);
};

constexpr SamplingKernel sampling_kernels[] = {{"lanczos1", 1, lanczos<1>},
                                               {"lanczos3", 3, lanczos<3>},
                                               {"lanczos5", 5, lanczos<5>},
                                               {"gaussian", 1.5F, gaussian},
                                               {"box", 1, box},
                                               {"triangle", 1, triangle},
                                               {"keyscubic", 2, keys_cubic},
                                               {"mitchellcubic", 2, mitchell_cubic}};

Result<const SamplingKernel*> kernel_of(const Node& node) {
  const auto& type = node.attrs.get<std::string>("kernel_type");
  std::string names, small = type;
  for (char& c : small)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  for (const SamplingKernel& kernel : sampling_kernels) {
    if (kernel.name == small) return &kernel;
    names += (names.empty() ? "" : ", ") + std::string(kernel.name);
  }
  return invalid_argument("kernel_type is " + quoted(type) + ", expected one of " + names);
}

// ---- Where pixels come from

/// How pixels of one dimension of the output lie among those of the original.
struct Placing {
  int64_t original, resized;
  float scale, translation;
};

/// Adds the taps of a resized pixel that comes from point `place`; its kernel is stretched by `stretch`.
void add_taps(const SamplingKernel& kernel, float place, float stretch, int64_t original, Taps& taps) {
  const float reach = kernel.radius * stretch;
  const auto inside = [&](float pixel) {
    const auto last = static_cast<float>(original - 1);
    return std::min(static_cast<int64_t>(std::clamp(pixel, 0.0F, last)), original - 1);
  };
  const int64_t first = inside(std::ceil(place - reach - 0.5F)),
                last = inside(std::floor(place + reach - 0.5F));
  float sum = 0;
  const size_t begin = taps.weights.size();
  for (int64_t pixel = first; pixel <= last; ++pixel) {
    const float weight = kernel.weight(std::abs((static_cast<float>(pixel) + 0.5F - place) * (1 / stretch)));
    sum += weight;
    taps.add(pixel, weight);
  }
  const bool vanishes = !(std::abs(sum) >= 1000 * std::numeric_limits<float>::min());
  for (size_t i = begin; i < taps.weights.size(); ++i) taps.weights[i] *= vanishes ? 0 : 1 / sum;
}

/// With `antialias` the kernel is stretched where the image shrinks.
Taps placed_taps(const Placing& placing, const SamplingKernel& kernel, bool antialias) {
  const float step = 1 / placing.scale, start = -step * placing.translation;
  const float stretch = antialias ? std::max(step, 1.0F) : 1;
  Taps taps;
  for (int64_t i = 0; i < placing.resized; ++i) {
    const float place = (static_cast<float>(i) + 0.5F) * step + start;
    if (place >= 0 && place <= static_cast<float>(placing.original))
      add_taps(kernel, place, stretch, placing.original, taps);
    taps.end_pixel();
  }
  return taps;
}

// ---- Kernels

Status place_shape(ShapeContext& context, size_t first) {
  for (size_t i = first; i < first + 2; ++i) {
    TROUPE_ASSIGN(const auto vector, context.with_rank(i, 1));
    TROUPE_RETURN_IF_FAILED(merge(vector, PartialShape{2}).status());
  }
  return kernel_of(context.node()).status();
}

Status scale_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(place_shape(context, 2));
  return resize_shape(context);
}

Status scale_gradient_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(place_shape(context, 2));
  return resize_gradient_shape(context);
}

Status check_pair(const Tensor& tensor, std::string_view name) {
  if (tensor.shape() == Shape{2}) return {};
  return invalid_argument(std::string(name) + " has shape " + tensor.shape().text() + ", expected [2]");
}

/// Adds the taps of the op to its images.
Result<TapsArguments> placed(const KernelContext& context, const ResizeArguments& images) {
  const Tensor &scale = context.input(2), &translation = context.input(3);
  TROUPE_RETURN_IF_FAILED(check_pair(scale, "scale"));
  TROUPE_RETURN_IF_FAILED(check_pair(translation, "translation"));
  const auto scales = scale.as<float>(), translations = translation.as<float>();
  if (!(scales[0] > 0 && scales[1] > 0))
    return invalid_argument("scale is [" + std::to_string(scales[0]) + "," + std::to_string(scales[1]) +
                            "], expected two numbers above 0");
  TROUPE_ASSIGN(const SamplingKernel* const kernel, kernel_of(context.node()));
  const bool antialias = context.node().attrs.get<bool>("antialias");
  const auto taps = [&](const Sampling& sampling, size_t i) {
    return placed_taps({sampling.original, sampling.resized, scales[i], translations[i]}, *kernel, antialias);
  };
  return TapsArguments{images, taps(images.rows, 0), taps(images.columns, 1)};
}

/// The gradient of images that are no floats is computed in floats.
void scale_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output images = context.input(0);
  const DType dtype = scope.dtype(images);
  if (!is_differentiable(dtype)) return;
  const bool is_float = dtype == DType::Float;
  const Output gradient = scope.add_one(
      "ScaleAndTranslateGrad",
      {context.gradient(), is_float ? images : cast(scope, images, f32), context.input(2), context.input(3)},
      {{"kernel_type", context.attr<std::string>("kernel_type")},
       {"antialias", context.attr<bool>("antialias")}});
  context.set(0, is_float ? gradient : cast(scope, gradient, dtype));
}

}  // namespace

Result<TapsArguments> check_scale(KernelContext& context) {
  TROUPE_ASSIGN(const ResizeArguments images, check_resize(context));
  return placed(context, images);
}

Result<TapsArguments> check_scale_gradient(KernelContext& context) {
  TROUPE_ASSIGN(const ResizeArguments images, check_resize_gradient(context));
  TROUPE_ASSIGN(TapsArguments arguments, placed(context, images));
  arguments.rows = transposed(arguments.rows, images.rows.original);
  arguments.columns = transposed(arguments.columns, images.columns.original);
  return arguments;
}

void add_scale_and_translate_ops(OpLibrary& library) {
  library.op(OpDefBuilder("ScaleAndTranslate")
                 .input("images: T")
                 .host_input("size: int32")
                 .host_input("scale: float")
                 .host_input("translation: float")
                 .output("resized_images: float")
                 .attr(resized_types)
                 .attr("kernel_type: string = 'lanczos3'")
                 .attr("antialias: bool = true")
                 .constructor("scale_and_translate(images, size, scale, translation, kernel_type, antialias)")
                 .shape(scale_shape)
                 .gradient(scale_gradient));
  library.op(OpDefBuilder("ScaleAndTranslateGrad")
                 .input("grads: T")
                 .input("original_image: T")
                 .host_input("scale: float")
                 .host_input("translation: float")
                 .output("output: T")
                 .attr("T: {float}")
                 .attr("kernel_type: string = 'lanczos3'")
                 .attr("antialias: bool = true")
                 .shape(scale_gradient_shape));
  library.kernel(cpu_kernel("ScaleAndTranslate", check_scale, sum_taps));
  library.kernel(cpu_kernel("ScaleAndTranslateGrad", check_scale_gradient, sum_taps));
}

}  // namespace troupe
