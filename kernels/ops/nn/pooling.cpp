#include "kernels/ops/nn/pooling.h"

#include <string>

#include "kernels/core/arguments.h"
#include "kernels/loops/rows.h"

namespace troupe {
namespace {

Status check_lists(std::span<const int64_t> input, std::span<const int64_t> ksize,
                   std::span<const int64_t> strides, const ImageAxes& axes) {
  if (input.size() != axes.rank)
    return invalid_argument("input of shape " + text_of(input) + " has rank " + std::to_string(input.size()) +
                            ", expected " + std::to_string(axes.rank));
  TROUPE_RETURN_IF_FAILED(spatial_part(ksize, axes, "ksize").status());
  TROUPE_RETURN_IF_FAILED(spatial_part(strides, axes, "strides").status());
  if (ksize[0] != 1 || strides[0] != 1)
    return invalid_argument("ksize " + text_of(ksize) + " and strides " + text_of(strides) +
                            " must be 1 in the batch dimension");
  if (std::ranges::any_of(ksize, [](int64_t size) { return size < 1; }))
    return invalid_argument("ksize " + text_of(ksize) +
                            ": the window must have 1 or more elements in each dimension");
  return {};
}

Status check_explicit(std::span<const WindowDimension> windows) {
  for (const WindowDimension& window : windows)
    if (window.pad_before >= window.window || window.pad_after >= window.window)
      return invalid_argument("the padding (" + std::to_string(window.pad_before) + ", " +
                              std::to_string(window.pad_after) + ") must be less than the window of " +
                              std::to_string(window.window) + " elements");
  return {};
}

/// Windows over the channels of each pixel.
Result<Pooling> channel_pooling(std::span<const int64_t> input, std::span<const int64_t> ksize,
                                std::span<const int64_t> strides, const ImageAxes& axes) {
  const int64_t window = ksize[axes.channel], channels = input[axes.channel];
  for (size_t i = 0; i < axes.rank; ++i)
    if (i != axes.channel && (ksize[i] != 1 || strides[i] != 1))
      return invalid_argument("ksize " + text_of(ksize) + " and strides " + text_of(strides) +
                              " pool both channels and other dimensions");
  if (window < 1 || strides[axes.channel] != window || (channels != unknown_dim && channels % window != 0))
    return invalid_argument("a window over " + std::to_string(window) + " channels with stride " +
                            std::to_string(strides[axes.channel]) +
                            " must be as long as its stride and divide the " + std::to_string(channels) +
                            " channels");
  Pooling pooling{
      .batch = 1, .channels = 1, .channels_last = false, .windows = {}, .input = input, .output = input};
  pooling.batch = static_cast<int64_t>(count_of(input.first(axes.channel)));
  pooling.windows = {WindowDimension{.size = 1, .output = 1}, WindowDimension{.size = 1, .output = 1}, {}};
  TROUPE_ASSIGN(pooling.windows[2], window_dimension(channels, window, window, 1, PaddingKind::Valid));
  pooling.output[axes.channel] = pooling.windows[2].output;
  return pooling;
}

}  // namespace

Result<PoolingLists> pooling_lists(const KernelContext& context, size_t first) {
  const Attributes& attrs = context.node().attrs;
  if (attrs.find("ksize"))
    return PoolingLists{std::span(attrs.get<std::vector<int64_t>>("ksize")),
                        std::span(attrs.get<std::vector<int64_t>>("strides"))};
  TROUPE_ASSIGN(Dims ksize, integer_vector(context.input(first), "ksize"));
  TROUPE_ASSIGN(Dims strides, integer_vector(context.input(first + 1), "strides"));
  return PoolingLists{std::move(ksize), std::move(strides)};
}

Result<std::optional<PoolingLists>> pooling_lists(const ShapeContext& context, size_t first) {
  const Attributes& attrs = context.node().attrs;
  if (attrs.find("ksize"))
    return std::optional(PoolingLists{std::span(attrs.get<std::vector<int64_t>>("ksize")),
                                      std::span(attrs.get<std::vector<int64_t>>("strides"))});
  TROUPE_RETURN_IF_FAILED(context.with_rank(first, 1).status());
  TROUPE_RETURN_IF_FAILED(context.with_rank(first + 1, 1).status());
  const auto ksize = context.constant_integers(first), strides = context.constant_integers(first + 1);
  if (!ksize || !strides) return std::optional<PoolingLists>();
  return std::optional(PoolingLists{std::span(*ksize), std::span(*strides)});
}

Status pooling_shape(ShapeContext& context, bool max_pools_channels) {
  TROUPE_ASSIGN(const ImageAxes axes, image_axes(context.node()));
  TROUPE_ASSIGN(const PartialShape input, context.with_rank(0, axes.rank));
  TROUPE_ASSIGN(const auto lists, pooling_lists(context, 1));
  context.set_output(0, PartialShape::of_rank(axes.rank));
  if (!lists || !context.input(0).known_rank()) return {};
  TROUPE_ASSIGN(const Pooling pooling,
                pooling_of(context.node(), input.dims(), lists->ksize, lists->strides, max_pools_channels));
  context.set_output(0, partial(pooling.output));
  return {};
}

Status check_dims(const Tensor& tensor, std::string_view name, std::span<const int64_t> dims) {
  if (std::ranges::equal(tensor.shape().dims(), dims)) return {};
  return invalid_argument(std::string(name) + " of shape " + tensor.shape().text() + " must have the shape " +
                          text_of(dims));
}

size_t Pooling::inputs() const {
  return static_cast<size_t>(windows[0].size * windows[1].size * windows[2].size);
}

size_t Pooling::outputs() const {
  return static_cast<size_t>(windows[0].output * windows[1].output * windows[2].output);
}

Result<Pooling> pooling_of(const Node& node, std::span<const int64_t> input, std::span<const int64_t> ksize,
                           std::span<const int64_t> strides, bool max_pools_channels) {
  TROUPE_ASSIGN(const ImageAxes axes, image_axes(node));
  TROUPE_RETURN_IF_FAILED(check_lists(input, ksize, strides, axes));
  TROUPE_ASSIGN(const Padding padding, padding_of(node, axes));
  if (max_pools_channels && axes.channels_last() && ksize[axes.channel] != 1)
    return channel_pooling(input, ksize, strides, axes);
  TROUPE_ASSIGN(const Dims window, only_spatial_part(ksize, axes, "ksize"));
  TROUPE_ASSIGN(const Dims stride, only_spatial_part(strides, axes, "strides"));
  TROUPE_ASSIGN(const auto windows,
                window_dimensions(input, axes, window, stride, Dims(axes.spatial(), 1), padding));
  if (padding.kind == PaddingKind::Explicit) TROUPE_RETURN_IF_FAILED(check_explicit(windows));
  Pooling pooling{.batch = input[0],
                  .channels = input[axes.channel],
                  .channels_last = axes.channels_last(),
                  .windows = {},
                  .input = input,
                  .output = image_dims(axes, input[0], windows, input[axes.channel])};
  pooling.windows[0] = WindowDimension{.size = 1, .output = 1};
  std::ranges::copy(windows, pooling.windows.end() - static_cast<ptrdiff_t>(windows.size()));
  return pooling;
}

Range covered(const WindowDimension& window, size_t i) {
  const int64_t first = window.first(static_cast<int64_t>(i));
  const int64_t end = window.window >= window.size - first ? window.size : first + window.window;
  const int64_t begin = std::max<int64_t>(first, 0);
  return {static_cast<size_t>(begin), static_cast<size_t>(std::max(begin, end))};
}

Range without_padding(const WindowDimension& window) {
  if (window.window > window.size) return {};
  const int64_t begin = window.pad_before == 0 ? 0 : (window.pad_before - 1) / window.stride + 1;
  const int64_t reach = window.size - window.window + window.pad_before;  // where the last of them begins
  const int64_t end = std::min(window.output, reach / window.stride + 1);
  return begin < end ? Range{static_cast<size_t>(begin), static_cast<size_t>(end)} : Range{};
}

PoolParts::PoolParts(const Pooling& pooling, size_t most)
    : pooling_(pooling), images_(static_cast<size_t>(pooling.batch)), blocks_(1), block_(1),
      channels_(static_cast<size_t>(pooling.channels)), pixel_(1),
      depth_(static_cast<size_t>(pooling.windows[0].output)),
      height_(static_cast<size_t>(pooling.windows[1].output)),
      columns_(static_cast<size_t>(pooling.windows[2].output)) {
  if (pooling.channels_last) {
    block_ = std::min(most, channels_);
    blocks_ = channels_ == 0 ? 0 : (channels_ - 1) / block_ + 1;
    pixel_ = channels_;
    return;
  }
  images_ *= channels_;
  whole_ = without_padding(pooling.windows[2]);
}

PoolParts::Part PoolParts::operator[](size_t i) const {
  const size_t image = i / blocks_, first = i % blocks_ * block_;
  const size_t volume = pixel_;  // neighbouring volumes of one image, with channels last
  return {image * pooling_.inputs() * volume + first, image * pooling_.outputs() * volume + first,
          std::min(block_, pixel_ - first)};
}

size_t PoolParts::input_rows_until(size_t row) const {
  const auto& windows = pooling_.windows;
  const size_t depth = covered(windows[0], row / height_).end,
               height = covered(windows[1], row % height_).end;
  if (depth == 0 || height == 0) return 0;
  return (depth - 1) * static_cast<size_t>(windows[1].size) + height;
}

size_t PoolParts::input_rows() const {
  return static_cast<size_t>(pooling_.windows[0].size * pooling_.windows[1].size);
}

}  // namespace troupe
