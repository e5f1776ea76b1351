#include "kernels/ops/nn/windows.h"

#include <string>

namespace troupe {
namespace {

std::string number(int64_t value) { return std::to_string(value); }

Status check_paddings(std::span<const int64_t> pads, const ImageAxes& axes) {
  if (pads.size() != 2 * axes.rank)
    return invalid_argument("explicit_paddings " + text_of(pads) + " has " + std::to_string(pads.size()) +
                            " elements, expected " + std::to_string(2 * axes.rank));
  if (std::ranges::any_of(pads, [](int64_t pad) { return pad < 0; }))
    return invalid_argument("explicit_paddings " + text_of(pads) + " has a negative element");
  const size_t channel = 2 * axes.channel;
  if (pads[0] != 0 || pads[1] != 0 || pads[channel] != 0 || pads[channel + 1] != 0)
    return invalid_argument("explicit_paddings " + text_of(pads) +
                            " pads the batch or the channels; only spatial dimensions may be padded");
  return {};
}

Status check_window(int64_t window, int64_t stride, int64_t dilation) {
  if (stride < 1) return invalid_argument("the stride is " + number(stride) + ", it must be 1 or more");
  if (dilation < 1) return invalid_argument("the dilation is " + number(dilation) + ", it must be 1 or more");
  if (window < 1 && window != unknown_dim)
    return invalid_argument("the window has " + number(window) + " elements, it must have 1 or more");
  return {};
}

Status too_large(const WindowDimension& of) {
  return invalid_argument("a window of " + number(of.window) + " elements with stride " + number(of.stride) +
                          " and dilation " + number(of.dilation) + " over " + number(of.size) +
                          " elements with padding (" + number(of.pad_before) + ", " + number(of.pad_after) +
                          ") does not fit int64");
}

/// How many input elements a window spans; false when it does not fit.
bool extent_of(const WindowDimension& of, int64_t& extent) {
  return !__builtin_mul_overflow(of.window - 1, of.dilation, &extent) &&
         !__builtin_add_overflow(extent, int64_t{1}, &extent);
}

Status pad_same(WindowDimension& of, int64_t extent) {
  of.output = of.size / of.stride + (of.size % of.stride != 0);
  int64_t needed = 0;
  if (of.output > 0 && __builtin_add_overflow((of.output - 1) * of.stride - of.size, extent, &needed))
    return too_large(of);
  needed = std::max<int64_t>(needed, 0);
  of.pad_before = needed / 2;
  of.pad_after = needed - of.pad_before;
  return {};
}

Status count_outputs(WindowDimension& of, int64_t extent) {
  int64_t padded = 0, reach = 0;
  if (__builtin_add_overflow(of.size, of.pad_before, &padded) ||
      __builtin_add_overflow(padded, of.pad_after, &padded) ||
      __builtin_add_overflow(padded - extent, of.stride, &reach))
    return too_large(of);
  if (reach < 0)
    return invalid_argument("a window of " + number(of.window) + " elements with dilation " +
                            number(of.dilation) + " and stride " + number(of.stride) +
                            " does not fit an input of " + number(of.size) + " elements with padding (" +
                            number(of.pad_before) + ", " + number(of.pad_after) +
                            "): the output would have a negative size");
  of.output = reach / of.stride;
  return {};
}

}  // namespace

Result<ImageAxes> image_axes(std::string_view data_format) {
  if (data_format == "NHWC") return ImageAxes{4, 3, 1};
  if (data_format == "NCHW") return ImageAxes{4, 1, 2};
  if (data_format == "NDHWC") return ImageAxes{5, 4, 1};
  if (data_format == "NCDHW") return ImageAxes{5, 1, 2};
  return invalid_argument("data_format is '" + std::string(data_format) +
                          "', expected 'NHWC', 'NCHW', 'NDHWC' or 'NCDHW'");
}

Result<ImageAxes> image_axes(const Node& node) {
  const AttrValue* const format = node.attrs.find("data_format");
  return image_axes(format ? std::get<std::string>(*format) : "NHWC");
}

Result<Dims> spatial_part(std::span<const int64_t> list, const ImageAxes& axes, std::string_view name) {
  if (list.size() != axes.rank)
    return invalid_argument(std::string(name) + " " + text_of(list) + " has " + std::to_string(list.size()) +
                            " elements, expected " + std::to_string(axes.rank));
  return Dims(list.subspan(axes.first_spatial, axes.spatial()));
}

Result<Dims> only_spatial_part(std::span<const int64_t> list, const ImageAxes& axes, std::string_view name) {
  TROUPE_ASSIGN(Dims part, spatial_part(list, axes, name));
  if (list[0] != 1 || list[axes.channel] != 1)
    return invalid_argument(std::string(name) + " " + text_of(list) +
                            " must be 1 in the batch and the channel dimension");
  return part;
}

Result<Padding> padding_of(const Node& node, const ImageAxes& axes) {
  const auto& kind = node.attrs.get<std::string>("padding");
  const AttrValue* const attr = node.attrs.find("explicit_paddings");
  const std::vector<int64_t> pads = attr ? std::get<std::vector<int64_t>>(*attr) : std::vector<int64_t>{};
  if (kind != "EXPLICIT") {
    if (!pads.empty())
      return invalid_argument("explicit_paddings " + text_of(pads) + " is given with padding '" + kind +
                              "'; it must be empty unless padding is 'EXPLICIT'");
    return Padding{kind == "SAME" ? PaddingKind::Same : PaddingKind::Valid, {}, {}};
  }
  TROUPE_RETURN_IF_FAILED(check_paddings(pads, axes));
  Padding padding{PaddingKind::Explicit, {}, {}};
  for (size_t i = axes.first_spatial; i < axes.first_spatial + axes.spatial(); ++i) {
    padding.before.push_back(pads[2 * i]);
    padding.after.push_back(pads[2 * i + 1]);
  }
  return padding;
}

Result<WindowDimension> window_dimension(int64_t size, int64_t window, int64_t stride, int64_t dilation,
                                         PaddingKind kind, int64_t pad_before, int64_t pad_after) {
  TROUPE_RETURN_IF_FAILED(check_window(window, stride, dilation));
  WindowDimension result{size, window, stride, dilation, pad_before, pad_after, unknown_dim};
  const bool same = kind == PaddingKind::Same;
  if (size == unknown_dim || (window == unknown_dim && !same)) {
    if (same) result.pad_before = result.pad_after = unknown_dim;
    return result;
  }
  if (window == unknown_dim) {
    TROUPE_RETURN_IF_FAILED(pad_same(result, 1));
    result.pad_before = result.pad_after = unknown_dim;
    return result;
  }
  int64_t extent = 0;
  if (!extent_of(result, extent)) return too_large(result);
  TROUPE_RETURN_IF_FAILED(same ? pad_same(result, extent) : count_outputs(result, extent));
  return result;
}

Result<ShortList<WindowDimension>> window_dimensions(std::span<const int64_t> dims, const ImageAxes& axes,
                                                     const Dims& window, const Dims& strides,
                                                     const Dims& dilations, const Padding& padding) {
  ShortList<WindowDimension> result;
  const bool is_explicit = padding.kind == PaddingKind::Explicit;
  for (size_t i = 0; i < axes.spatial(); ++i) {
    TROUPE_ASSIGN(
        const WindowDimension one,
        window_dimension(dims[axes.first_spatial + i], window[i], strides[i], dilations[i], padding.kind,
                         is_explicit ? padding.before[i] : 0, is_explicit ? padding.after[i] : 0));
    result.push_back(one);
  }
  return result;
}

Dims image_dims(const ImageAxes& axes, int64_t batch, std::span<const WindowDimension> windows,
                int64_t channels) {
  Dims dims{batch};
  for (const WindowDimension& window : windows) dims.push_back(window.output);
  return dims.with(axes.channel, channels);
}

}  // namespace troupe
