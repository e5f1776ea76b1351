// Windows that move over images: what pooling and convolution share. Data formats and padding become the axes of an image and,
// for each spatial dimension, the output size and the zeros around the input. Pure functions; any thread. Sizes count elements;
// -1 (unknown_dim) is an unknown size, which only shape functions have.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "graph/build/graph.h"
#include "kernels/core/dims.h"

namespace troupe {

/// The axes of images in one tensor. The batch is axis 0; the spatial axes are neighbours.
struct ImageAxes {
  size_t rank = 4, channel = 3, first_spatial = 1;

  size_t spatial() const { return rank - 2; }  ///< how many spatial axes there are
  bool channels_last() const { return channel + 1 == rank; }
};

/// Of "NHWC", "NCHW", "NDHWC" or "NCDHW"; InvalidArgument for another.
Result<ImageAxes> image_axes(std::string_view data_format);
/// Of the node's data_format; of "NHWC" when it has no such attribute.
Result<ImageAxes> image_axes(const Node& node);
/// The spatial elements of a list with one element for each axis. InvalidArgument "strides [1,2] has 2 elements, expected 4".
Result<Dims> spatial_part(std::span<const int64_t> list, const ImageAxes& axes, std::string_view name);
/// The same; InvalidArgument unless the elements of batch and channel are 1.
Result<Dims> only_spatial_part(std::span<const int64_t> list, const ImageAxes& axes, std::string_view name);

enum class PaddingKind : uint8_t {
  Same,  ///< the output has ceil(size / stride) elements; when the padding is odd, its greater half comes after the input
  Valid,     ///< no padding
  Explicit,  ///< as many zeros before and after the input as the caller says
};

/// The padding of every spatial dimension; before and after only when it is explicit.
struct Padding {
  PaddingKind kind = PaddingKind::Valid;
  Dims before, after;
};
/// From the attributes padding and explicit_paddings, if the node has it. InvalidArgument when explicit_paddings does not have
/// two elements for each axis, has a negative element, pads batch or channels, or is given with another padding.
Result<Padding> padding_of(const Node& node, const ImageAxes& axes);

/// A window on one spatial dimension. Output i covers the input elements first(i), first(i) + dilation, ..., `window` of them, of
/// which those outside [0, size) are padding.
struct WindowDimension {
  int64_t size = 0;                  ///< of the input
  int64_t window = 1;                ///< elements
  int64_t stride = 1, dilation = 1;  ///< between neighbouring windows, between neighbouring elements of one
  int64_t pad_before = 0,
          pad_after = 0;  ///< pad_after of Valid is 0: what the last window does not reach is left out
  int64_t output = 0;     ///< how many windows there are

  int64_t first(int64_t i) const { return i * stride - pad_before; }
};

/// InvalidArgument when the stride, the dilation or the window is less than 1, when `size` and padding are less than the
/// (dilated) window by a stride or more, and when a size does not fit. Of an unknown size or window the output and the padding
/// are unknown.
Result<WindowDimension> window_dimension(int64_t size, int64_t window, int64_t stride, int64_t dilation,
                                         PaddingKind kind, int64_t pad_before = 0, int64_t pad_after = 0);

/// One WindowDimension for each spatial axis. All lists have one element for each of them; `dims` are those of the whole input.
Result<ShortList<WindowDimension>> window_dimensions(std::span<const int64_t> dims, const ImageAxes& axes,
                                                     const Dims& window, const Dims& strides,
                                                     const Dims& dilations, const Padding& padding);

/// The dimensions of an image tensor: the batch, the outputs of the windows, and the channels where the axes have them.
Dims image_dims(const ImageAxes& axes, int64_t batch, std::span<const WindowDimension> windows,
                int64_t channels);

}  // namespace troupe
