// Colours of pixels: the last dimension, of size 3.
//   RGBToHSV(images)                   hue, saturation and value in [0, 1] of red, green and blue
//   HSVToRGB(images)                   the inverse
//   AdjustHue(images, delta)           turns the hue by delta, a part of the circle
//   AdjustSaturation(images, scale)    multiplies the saturation, which stays in [0, 1]
// The latter two take images of rank 3 or more. Half and bfloat16 are computed in float.
#include "kernels/ops/images/colors.h"

#include <algorithm>
#include <array>

#include "graph/build/gradients.h"
#include "kernels/constructors.h"
#include "kernels/core/arguments.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/color_loops.h"

namespace troupe {
namespace {

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

/// Maps pixels of half or bfloat16, some at a time, as floats.
template <class T>
void map_narrow(const T* from, size_t pixels, ColorLoop map, float amount, T* to) {
  constexpr size_t most = 256;
  float wide[3 * most];
  for (size_t first = 0; first < pixels; first += most) {
    const size_t count = std::min(most, pixels - first);
    for (size_t i = 0; i < 3 * count; ++i) wide[i] = static_cast<float>(from[3 * first + i]);
    map(wide, wide, count, amount);
    for (size_t i = 0; i < 3 * count; ++i) to[3 * first + i] = static_cast<T>(wide[i]);
  }
}

template <ColorFunction function>
void compute_colors(const ColorArguments& arguments, DeviceContext& device) {
  const auto pixels = static_cast<size_t>(arguments.images.elements() / 3);
  with_type(AllFloatTypes{}, arguments.images.dtype(), [&]<class T>(std::type_identity<T>) {
    const ColorLoop map = color_loop(function, dtype_of<ComputeType<T>>);
    const T* const from = reinterpret_cast<const T*>(arguments.images.data());
    T* const to = reinterpret_cast<T*>(arguments.output.mutable_data());
    parallel_items(device.pool(), pixels, 6 * sizeof(T) + 8, [&](size_t begin, size_t end) {
      if constexpr (std::is_same_v<T, ComputeType<T>>)
        map(from + 3 * begin, to + 3 * begin, end - begin, arguments.amount);
      else
        map_narrow(from + 3 * begin, end - begin, map, arguments.amount, to + 3 * begin);
    });
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
  library.kernel(cpu_kernel("RGBToHSV", check_colors, compute_colors<ColorFunction::HsvOfRgb>));
  library.kernel(cpu_kernel("HSVToRGB", check_colors, compute_colors<ColorFunction::RgbOfHsv>));
  library.kernel(cpu_kernel("AdjustHue", check_colors, compute_colors<ColorFunction::TurnHue>));
  library.kernel(
      cpu_kernel("AdjustSaturation", check_colors, compute_colors<ColorFunction::ScaleSaturation>));
}

}  // namespace troupe
