#include "kernels/loops/color_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/loops/vector_colors.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace troupe {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
struct Colors {
  using V = hn::VFromD<D>;
  V a, b, c;
};

template <class D>
HWY_INLINE auto number(D d, double value) {
  return hn::Set(d, static_cast<hn::TFromD<D>>(value));
}

template <class D, class V>
HWY_INLINE V in_unit(D d, V x) {
  return hn::Min(hn::Max(x, hn::Zero(d)), number(d, 1));
}

template <class V>
HWY_INLINE V greatest(V a, V b, V c) {
  return hn::Max(hn::Max(a, b), c);
}
template <class V>
HWY_INLINE V least(V a, V b, V c) {
  return hn::Min(hn::Min(a, b), c);
}

/// Returns the hue in sixths of the circle: 0 red, 2 green, 4 blue; from -1 on.
template <class D, class V>
HWY_INLINE V sixths(D d, const Colors<D>& rgb, V value, V range) {
  const auto [r, g, b] = rgb;
  const auto is_red = hn::Eq(r, value), is_green = hn::Eq(g, value);
  const V ahead =
      hn::IfThenElse(is_red, hn::Sub(g, b), hn::IfThenElse(is_green, hn::Sub(b, r), hn::Sub(r, g)));
  const V base = hn::IfThenElse(is_red, hn::Zero(d), hn::IfThenElse(is_green, number(d, 2), number(d, 4)));
  return hn::IfThenElseZero(hn::Gt(range, hn::Zero(d)), hn::Add(hn::Div(ahead, range), base));
}

/// How much red, green and blue a hue has, in [0, 1].
template <class D, class V>
HWY_INLINE Colors<D> shares(D d, V place) {
  const V two = number(d, 2);
  const auto distance = [&](double from) HWY_ATTR { return hn::Abs(hn::Sub(place, number(d, from))); };
  return {in_unit(d, hn::Sub(distance(3), number(d, 1))), in_unit(d, hn::Sub(two, distance(2))),
          in_unit(d, hn::Sub(two, distance(4)))};
}

struct HsvOfRgb {
  template <class D>
  static HWY_INLINE Colors<D> apply(D d, const Colors<D>& rgb, double) {
    const auto value = greatest(rgb.a, rgb.b, rgb.c), range = hn::Sub(value, least(rgb.a, rgb.b, rgb.c));
    const auto hue = hn::Div(sixths(d, rgb, value, range), number(d, 6));
    const auto saturation = hn::IfThenElseZero(hn::Gt(value, hn::Zero(d)), hn::Div(range, value));
    return {hn::IfThenElse(hn::Lt(hue, hn::Zero(d)), hn::Add(hue, number(d, 1)), hue), saturation, value};
  }
};

struct RgbOfHsv {
  template <class D>
  static HWY_INLINE Colors<D> apply(D d, const Colors<D>& hsv, double) {
    const auto [hue, saturation, value] = hsv;
    const Colors<D> share = shares(d, hn::Mul(hue, number(d, 6)));
    const auto white = hn::Sub(number(d, 1), saturation);
    const auto mix = [&, s = saturation, v = value](auto part)
                         HWY_ATTR { return hn::Mul(hn::Add(white, hn::Mul(s, part)), v); };
    return {mix(share.a), mix(share.b), mix(share.c)};
  }
};

/// The least and the greatest of the three channels stay, whichever they become.
struct TurnHue {
  template <class D>
  static HWY_INLINE Colors<D> apply(D d, const Colors<D>& rgb, double delta) {
    const auto value = greatest(rgb.a, rgb.b, rgb.c), low = least(rgb.a, rgb.b, rgb.c),
               range = hn::Sub(value, low);
    const auto six = number(d, 6);
    auto place = hn::Add(sixths(d, rgb, value, range), hn::Mul(number(d, delta), six));
    place = hn::Sub(place, hn::Mul(six, hn::Floor(hn::Div(place, six))));
    const Colors<D> share = shares(d, place);
    const auto mix = [&](auto part) HWY_ATTR { return hn::Add(low, hn::Mul(range, part)); };
    return {mix(share.a), mix(share.b), mix(share.c)};
  }
};

struct ScaleSaturation {
  template <class D>
  static HWY_INLINE Colors<D> apply(D d, const Colors<D>& rgb, double scale) {
    Colors<D> hsv = HsvOfRgb::apply(d, rgb, 0);
    hsv.b = in_unit(d, hn::Mul(hsv.b, number(d, scale)));
    return RgbOfHsv::apply(d, hsv, 0);
  }
};

template <class Function, class T>
void map_pixels(const void* source, void* target, size_t pixels, double amount) {
  using D = hn::ScalableTag<T>;
  const D d;
  const size_t lanes = hn::Lanes(d);
  const auto map = [&](const T* from, T* to) HWY_ATTR {
    Colors<D> colors;
    hn::LoadInterleaved3(d, from, colors.a, colors.b, colors.c);
    colors = Function::apply(d, colors, amount);
    hn::StoreInterleaved3(colors.a, colors.b, colors.c, d, to);
  };
  const T* from = static_cast<const T*>(source);
  T* to = static_cast<T*>(target);
  for (; pixels >= lanes; pixels -= lanes, from += 3 * lanes, to += 3 * lanes) map(from, to);
  if (pixels == 0) return;
  T last[3 * hn::MaxLanes(d)] = {};
  std::copy_n(from, 3 * pixels, last);
  map(last, last);
  std::copy_n(last, 3 * pixels, to);
}

template <class T>
ColorLoop color_loop_of(ColorFunction function) {
  switch (function) {
    case ColorFunction::HsvOfRgb: return map_pixels<HsvOfRgb, T>;
    case ColorFunction::RgbOfHsv: return map_pixels<RgbOfHsv, T>;
    case ColorFunction::TurnHue: return map_pixels<TurnHue, T>;
    default: return map_pixels<ScaleSaturation, T>;
  }
}

ColorLoop color_loop_for(ColorFunction function, DType dtype) {
  return dtype == DType::Double ? color_loop_of<double>(function) : color_loop_of<float>(function);
}

}  // namespace HWY_NAMESPACE
}  // namespace troupe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace troupe {

HWY_EXPORT(color_loop_for);

ColorLoop color_loop(ColorFunction function, DType dtype) {
  return HWY_DYNAMIC_DISPATCH(color_loop_for)(function, dtype);
}

}  // namespace troupe
#endif
