// Batches of images in device memory, with channels last or before the positions, and how they are moved.
#pragma once

#include <array>

#include "kernels/gpu/coordinates.h"
#include "kernels/gpu/launch.h"
#include "kernels/loops/convolution.h"

namespace troupe::gpu {

/// The coordinates of an element.
struct Place {
  size_t image, channel;
  int at[3];  ///< the position
};

/// The shape and layout of a batch of images: element numbers and their coordinates.
class ImageShape {
 public:
  ImageShape() = default;
  ImageShape(int64_t batch, int64_t channels, std::array<int64_t, 3> space, bool channels_last)
      : channels_(static_cast<size_t>(channels)), space_{Divider(static_cast<size_t>(space[0])),
                                                         Divider(static_cast<size_t>(space[1])),
                                                         Divider(static_cast<size_t>(space[2]))},
        batch_(static_cast<size_t>(batch)), last_(channels_last) {}

  size_t batch() const { return batch_; }
  bool channels_last() const { return last_; }
  TROUPE_ANY size_t channels() const { return channels_.divisor(); }
  /// Elements of one channel of one image.
  TROUPE_ANY size_t area() const { return space_[0].divisor() * space_[1].divisor() * space_[2].divisor(); }
  size_t elements() const { return batch_ * channels() * area(); }

  TROUPE_ANY Place place(size_t i) const {
    Place place;
    if (last_) place.channel = split(channels_, i);
    position(i, place.at);
    if (!last_) place.channel = split(channels_, i);
    place.image = i;
    return place;
  }
  /// Splits the number of a position into coordinates; `i` becomes the number of the image.
  TROUPE_ANY void position(size_t& i, int (&at)[3]) const {
    for (int axis = 2; axis >= 0; --axis) at[axis] = static_cast<int>(split(space_[axis], i));
  }
  TROUPE_ANY size_t index(size_t image, size_t channel, const int (&at)[3]) const {
    size_t position = 0;
    for (int axis = 0; axis < 3; ++axis)
      position = position * space_[axis].divisor() + static_cast<size_t>(at[axis]);
    return last_ ? (image * area() + position) * channels() + channel
                 : (image * channels() + channel) * area() + position;
  }
  TROUPE_ANY bool has(const int (&at)[3]) const {
    bool inside = true;
    for (int axis = 0; axis < 3; ++axis)
      inside = inside && at[axis] >= 0 && at[axis] < static_cast<int>(space_[axis].divisor());
    return inside;
  }

 private:
  Divider channels_, space_[3];
  size_t batch_ = 0;
  bool last_ = true;
};

/// One to three spatial dimensions as three.
inline std::array<ConvolutionAxis, 3> three_axes(const ConvolutionSizes& sizes) {
  std::array<ConvolutionAxis, 3> axes;
  std::ranges::copy(sizes.axes, axes.end() - static_cast<ptrdiff_t>(sizes.axes.size()));
  return axes;
}
/// Return the shapes of the images and of the outputs.
inline ImageShape input_shape(const ConvolutionSizes& sizes, bool channels_last) {
  const auto axes = three_axes(sizes);
  return {sizes.batch, sizes.in_channels, {axes[0].input, axes[1].input, axes[2].input}, channels_last};
}
inline ImageShape output_shape(const ConvolutionSizes& sizes, bool channels_last) {
  const auto axes = three_axes(sizes);
  return {sizes.batch, sizes.out_channels, {axes[0].output, axes[1].output, axes[2].output}, channels_last};
}

// The following copy images of one layout. An element has 1, 2, 4, 8 or 16 bytes.

/// Position p of `to` gets position p + offset of `from`, or 0 where `from` has none.
Status move_images(DeviceContext& device, size_t element, const ImageShape& from, const void* source,
                   const ImageShape& to, void* target, std::array<int, 3> offset);
/// Position p of `to` gets position p * stride of `from`.
Status take_positions(DeviceContext& device, size_t element, const ImageShape& from, const void* source,
                      const ImageShape& to, void* target, std::array<int, 3> strides);
/// Position p * stride of `to` gets position p of `from`; all others become 0.
Status spread_positions(DeviceContext& device, size_t element, const ImageShape& from, const void* source,
                        const ImageShape& to, void* target, std::array<int, 3> strides);

/// Copies images, of the shape `from`, to the other layout. An element has 2, 4 or 8 bytes.
Status change_layout(DeviceContext& device, size_t element, const ImageShape& from, const void* source,
                     void* target);

}  // namespace troupe::gpu
