// Colours of pixels: the last dimension, of size 3.
//   RGBToHSV(images)                   hue, saturation and value in [0, 1] of red, green and blue
//   HSVToRGB(images)                   the inverse
//   AdjustHue(images, delta)           turns the hue by delta, a part of the circle
//   AdjustSaturation(images, scale)    multiplies the saturation, which stays in [0, 1]
// The latter two take images of rank 3 or more. Half and bfloat16 are computed in float.
#include <algorithm>
#include <array>
#include <cmath>

#include "graph/build/gradients.h"
#include "kernels/constructors.h"
#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"

namespace troupe {
namespace {

template <class T>
using Pixel = std::array<T, 3>;

struct ColorArguments {
  const Tensor& images;
  Tensor& output;
  float amount;  ///< delta or scale
};

bool adjusts(const Node& node) { return node.type().starts_with("Adjust"); }

Status colors_shape(ShapeContext& context) {
  const PartialShape& images = context.input(0);
  if (adjusts(context.node())) TROUPE_RETURN_IF_FAILED(context.with_rank(1, 0).status());
  if (!images.known_rank()) return {};
  const size_t least = adjusts(context.node()) ? 3 : 1;
  const bool has_colors =
      images.rank() >= least && (images.dims().back() == 3 || images.dims().back() == unknown_dim);
  if (!has_colors)
    return invalid_argument("images of shape " + images.text() + " must have rank " + std::to_string(least) +
                            " or more, and 3 channels in the last dimension");
  std::vector<int64_t> dims(images.dims().begin(), images.dims().end());
  dims.back() = 3;
  context.set_output(0, PartialShape(std::move(dims)));
  return {};
}

Result<ColorArguments> check_colors(KernelContext& context) {
  const Shape& shape = context.input(0).shape();
  const bool adjusted = adjusts(context.node());
  const size_t least = adjusted ? 3 : 1;
  if (shape.rank() < least || shape.dims().back() != 3)
    return invalid_argument("images of shape " + shape.text() + " must have rank " + std::to_string(least) +
                            " or more, and 3 channels in the last dimension");
  float amount = 0;
  if (adjusted) {
    if (!context.input(1).shape().is_scalar())
      return invalid_argument(context.node().op->inputs[1].name + " of shape " +
                              context.input(1).shape().text() + " must be a scalar");
    amount = context.input(1).as<float>()[0];
  }
  const Tensor& images = context.input(0);
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  return ColorArguments{images, *output, amount};
}

template <class T, class Map>
void map_pixels(const ColorArguments& arguments, Pool& pool, Map map) {
  using Compute = ComputeType<T>;
  const T* const from = reinterpret_cast<const T*>(arguments.images.data());
  T* const to = reinterpret_cast<T*>(arguments.output.mutable_data());
  parallel_items(pool, static_cast<size_t>(arguments.images.elements() / 3), 64,
                 [&](size_t begin, size_t end) {
                   for (size_t i = 3 * begin; i < 3 * end; i += 3) {
                     const auto pixel = map(static_cast<Compute>(from[i]), static_cast<Compute>(from[i + 1]),
                                            static_cast<Compute>(from[i + 2]));
                     to[i] = static_cast<T>(pixel[0]);
                     to[i + 1] = static_cast<T>(pixel[1]);
                     to[i + 2] = static_cast<T>(pixel[2]);
                   }
                 });
}

template <class T>
Pixel<T> hsv_of(T r, T g, T b) {
  const T value = std::max(std::max(r, g), b), range = value - std::min(std::min(r, g), b);
  const T saturation = value > 0 ? range / value : T{0};
  const T unit = T{1} / (T{6} * range);
  T hue = r == value   ? unit * (g - b)
          : g == value ? unit * (b - r) + T{2} / T{6}
                       : unit * (r - g) + T{4} / T{6};
  if (!(range > 0)) hue = 0;
  return {hue < 0 ? hue + 1 : hue, saturation, value};
}

template <class T>
Pixel<T> rgb_of(T hue, T saturation, T value) {
  const T place = hue * 6;
  const auto part = [](T x) { return std::clamp(x, T{0}, T{1}); };
  const T red = part(std::abs(place - 3) - 1), green = part(2 - std::abs(place - 2)),
          blue = part(2 - std::abs(place - 4));
  const T white = 1 - saturation;
  return {(white + saturation * red) * value, (white + saturation * green) * value,
          (white + saturation * blue) * value};
}

/// The same with the hue turned. The least and the greatest of the three channels stay, whichever they become.
Pixel<float> turned(float r, float g, float b, float delta) {
  const float high = std::max(std::max(r, g), b), low = std::min(std::min(r, g), b), range = high - low;
  float place = 0;  // in [0, 6): 0 red, 2 green, 4 blue
  if (range > 0) place = r == high ? (g - b) / range : g == high ? (b - r) / range + 2 : (r - g) / range + 4;
  place += delta * 6;
  if (place < 0 || place >= 6) place -= 6 * std::floor(place / 6);
  const auto level = [&](float distance) {  // from the place of the channel, at most 3
    return low + range * std::clamp(2 - std::abs(distance), 0.0F, 1.0F);
  };
  return {level(place < 3 ? place : place - 6), level(place - 2), level(place - 4)};
}

Pixel<float> saturated(float r, float g, float b, float scale) {
  const auto [hue, saturation, value] = hsv_of(r, g, b);
  return rgb_of(hue, std::clamp(saturation * scale, 0.0F, 1.0F), value);
}

void compute_hsv(const ColorArguments& arguments, DeviceContext& device) {
  with_type(AllFloatTypes{}, arguments.images.dtype(), [&]<class T>(std::type_identity<T>) {
    map_pixels<T>(arguments, device.pool(), [](auto r, auto g, auto b) { return hsv_of(r, g, b); });
  });
}

void compute_rgb(const ColorArguments& arguments, DeviceContext& device) {
  with_type(AllFloatTypes{}, arguments.images.dtype(), [&]<class T>(std::type_identity<T>) {
    map_pixels<T>(arguments, device.pool(), [](auto h, auto s, auto v) { return rgb_of(h, s, v); });
  });
}

template <Pixel<float> change(float, float, float, float)>
void compute_adjusted(const ColorArguments& arguments, DeviceContext& device) {
  with_type(TypeList<float, Half>{}, arguments.images.dtype(), [&]<class T>(std::type_identity<T>) {
    map_pixels<T>(arguments, device.pool(),
                  [amount = arguments.amount](float r, float g, float b) { return change(r, g, b, amount); });
  });
}

/// The derivatives of hue, saturation and value by a channel x, where n and p are the next channel and the one before in the
/// order red, green, blue, red: (p - n) / (6 range^2); min / max^2 if x is max, -1 / max if x is min; 1 if x is max. As in
/// TensorFlow, of equal channels the first counts as max and the last as min; what would be divided by 0 is 0, and so is the
/// saturation's for x <= 0 and the hue's for max <= 0.
void hsv_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output x = context.input(0), hsv = context.output(0);
  const DType dtype = scope.dtype(x);
  const auto last = integer_constants(scope, std::array{int64_t{-1}});
  const auto reversed = [&](Output y) { return scope.add_one("ReverseV2", {y, last}); };
  const auto one_hot_of = [&](const char* op, Output y) {
    const Output at = scope.add_one(op, {y, integer_constant(scope, -1)});
    const Output three = integer_constant(scope, 3), zero = cast(scope, integer_constant(scope, 0), dtype);
    return scope.add_one("OneHot", {at, three, cast(scope, integer_constant(scope, 1), dtype), zero});
  };
  const auto turned_by = [&](int64_t by) {
    return scope.add_one("Roll", {x, integer_constant(scope, by), integer_constant(scope, -1)});
  };
  const auto no_nan = [&](Output a, Output b) { return scope.add_one("DivNoNan", {a, b}); };
  const auto positive = [&](Output y) { return cast(scope, greater(scope, y, 0), dtype); };
  const Output biggest = one_hot_of("ArgMax", x), smallest = reversed(one_hot_of("ArgMin", reversed(x)));
  const auto by_channel = split(scope, hsv, 3, -1), grads = split(scope, context.gradient(), 3, -1);
  const Output most = by_channel[2], least = min(scope, x, -1, true), range = sub(scope, most, least);
  const Output by_value = mul(scope, grads[2], biggest);
  const Output slope =
      sub(scope, mul(scope, biggest, no_nan(least, square(scope, x))), no_nan(smallest, most));
  const Output by_saturation = mul(scope, grads[1], mul(scope, positive(x), slope));
  const Output turn = no_nan(sub(scope, turned_by(1), turned_by(-1)), mul(scope, square(scope, range), 6));
  const Output by_hue = mul(scope, grads[0], mul(scope, positive(most), turn));
  context.set(0, add_n(scope, {by_value, by_saturation, by_hue}));
}

}  // namespace

void add_color_ops(OpLibrary& library) {
  const auto conversion = [](const char* name, const char* constructor) {
    return OpDefBuilder(name)
        .input("images: T")
        .output("output: T")
        .attr("T: {half, bfloat16, float, double} = float")
        .constructor(std::string(constructor) + "(images)")
        .shape(colors_shape);
  };
  const auto adjustment = [](const char* name, const char* amount, const char* constructor) {
    return OpDefBuilder(name)
        .input("images: T")
        .host_input(std::string(amount) + ": float")
        .output("output: T")
        .attr("T: {half, float} = float")
        .constructor(std::string(constructor) + "(images, " + amount + ")")
        .shape(colors_shape);
  };
  library.op(conversion("RGBToHSV", "rgb_to_hsv").gradient(hsv_gradient));
  library.op(conversion("HSVToRGB", "hsv_to_rgb").not_differentiable());
  library.op(adjustment("AdjustHue", "delta", "adjust_hue"));
  library.op(adjustment("AdjustSaturation", "scale", "adjust_saturation"));
  library.kernel(cpu_kernel("RGBToHSV", check_colors, compute_hsv));
  library.kernel(cpu_kernel("HSVToRGB", check_colors, compute_rgb));
  library.kernel(cpu_kernel("AdjustHue", check_colors, compute_adjusted<turned>));
  library.kernel(cpu_kernel("AdjustSaturation", check_colors, compute_adjusted<saturated>));
}

}  // namespace troupe
