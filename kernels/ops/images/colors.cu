// RGBToHSV, HSVToRGB, AdjustHue and AdjustSaturation on GPUs: see colors.cpp. The arithmetic is that of the vectors of CPUs in
// kernels/loops/vector_colors.cpp.
#include "kernels/ops/images/colors.h"

#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/launch.h"
#include "kernels/gpu/numbers.h"
#include "kernels/loops/color_loops.h"

namespace troupe {
namespace {

/// A pixel: red, green and blue, or hue, saturation and value.
template <class W>
struct Color {
  W a, b, c;
};

// If one argument is a NaN, both return the second, as the vectors do.
template <class W>
TROUPE_ANY W greater_of(W a, W b) {
  return a > b ? a : b;
}
template <class W>
TROUPE_ANY W less_of(W a, W b) {
  return a < b ? a : b;
}

template <class W>
TROUPE_ANY W in_unit(W x) {
  return less_of(greater_of(x, W(0)), W(1));
}

/// The range of the channels of a colour.
template <class W>
struct ChannelRange {
  W low, high;
  TROUPE_ANY explicit ChannelRange(const Color<W>& rgb)
      : low(less_of(less_of(rgb.a, rgb.b), rgb.c)), high(greater_of(greater_of(rgb.a, rgb.b), rgb.c)) {}
  TROUPE_ANY W size() const { return high - low; }
};

/// Returns the hue in sixths of the circle: 0 red, 2 green, 4 blue; from -1 on.
template <class W>
TROUPE_ANY W sixths(const Color<W>& rgb, const ChannelRange<W>& range) {
  if (!(range.size() > 0)) return 0;
  W ahead = rgb.a - rgb.b, base = 4;
  if (rgb.a == range.high) {
    ahead = rgb.b - rgb.c;
    base = 0;
  } else if (rgb.b == range.high) {
    ahead = rgb.c - rgb.a;
    base = 2;
  }
  return ahead / range.size() + base;
}

/// How much red, green and blue a hue has, in [0, 1].
template <class W>
TROUPE_ANY Color<W> shares(W place) {
  const auto distance = [&](W from) { return std::abs(place - from); };
  return {in_unit(distance(3) - 1), in_unit(2 - distance(2)), in_unit(2 - distance(4))};
}

template <class W>
TROUPE_ANY Color<W> hsv_of_rgb(const Color<W>& rgb) {
  const ChannelRange<W> range(rgb);
  const W hue = sixths(rgb, range) / 6;
  return {hue < 0 ? hue + 1 : hue, range.high > 0 ? range.size() / range.high : W(0), range.high};
}

template <class W>
TROUPE_ANY Color<W> rgb_of_hsv(const Color<W>& hsv) {
  const Color<W> share = shares(hsv.a * 6);
  const W white = 1 - hsv.b;
  const auto mix = [&](W part) { return (white + hsv.b * part) * hsv.c; };
  return {mix(share.a), mix(share.b), mix(share.c)};
}

/// The least and the greatest of the three channels stay, whichever they become.
template <class W>
TROUPE_ANY Color<W> turned(const Color<W>& rgb, W delta) {
  const ChannelRange<W> range(rgb);
  const W place = sixths(rgb, range) + delta * 6;
  const Color<W> share = shares(place - 6 * std::floor(place / 6));
  const auto mix = [&](W part) { return range.low + range.size() * part; };
  return {mix(share.a), mix(share.b), mix(share.c)};
}

template <class W>
TROUPE_ANY Color<W> saturated(const Color<W>& rgb, W scale) {
  Color<W> hsv = hsv_of_rgb(rgb);
  hsv.b = in_unit(hsv.b * scale);
  return rgb_of_hsv(hsv);
}

template <class T>
struct MapPixels {
  using W = gpu::Wide<T>;
  ColorFunction function;
  W amount;
  const T* from;
  T* to;

  TROUPE_ANY Color<W> mapped(const Color<W>& color) const {
    switch (function) {
      case ColorFunction::HsvOfRgb: return hsv_of_rgb(color);
      case ColorFunction::RgbOfHsv: return rgb_of_hsv(color);
      case ColorFunction::TurnHue: return turned(color, amount);
      default: return saturated(color, amount);
    }
  }
  TROUPE_ANY void operator()(size_t pixel) const {
    const T* const x = from + 3 * pixel;
    T* const y = to + 3 * pixel;
    const Color<W> color = mapped({gpu::load(x[0]), gpu::load(x[1]), gpu::load(x[2])});
    gpu::store(y[0], color.a);
    gpu::store(y[1], color.b);
    gpu::store(y[2], color.c);
  }
};

template <ColorFunction function>
Status compute_colors(const ColorArguments& arguments, DeviceContext& device) {
  return gpu::for_type(gpu::AllFloats{}, arguments.images.dtype(), [&]<class T>(std::type_identity<T>) {
    const auto from = arguments.images.as<T>();
    return gpu::each(device, from.size() / 3,
                     MapPixels<T>{function, static_cast<gpu::Wide<T>>(arguments.amount), from.data(),
                                  arguments.output.write<T>().data()});
  });
}

}  // namespace

void add_colors_on_gpu(OpLibrary& library) {
  const auto add = [&](const char* op, auto compute, const std::vector<DType>& types) {
    library.kernel(gpu_kernel(op, check_colors, compute).on("T", types));
  };
  const auto all = dtypes(gpu::AllFloats{}), adjusted = dtypes(TypeList<float, Half>{});
  add("RGBToHSV", compute_colors<ColorFunction::HsvOfRgb>, all);
  add("HSVToRGB", compute_colors<ColorFunction::RgbOfHsv>, all);
  add("AdjustHue", compute_colors<ColorFunction::TurnHue>, adjusted);
  add("AdjustSaturation", compute_colors<ColorFunction::ScaleSaturation>, adjusted);
}

}  // namespace troupe
