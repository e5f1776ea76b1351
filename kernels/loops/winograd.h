// Convolutions of windows of 3 x 3 with stride 1 by Winograd's minimal filtering, F(4 x 4, 3 x 3): an output tile of 4 x 4
// elements takes 36 multiplications for each pair of channels instead of 144. Source: Lavin and Gray, "Fast algorithms for
// convolutional neural networks", 2015. Results differ from a direct sum by about 1e-6 of their norm. Images are channels-last
// float: [batch, height, width, channels]; filters are [3, 3, in_channels, out_channels]. Work is cut by the sizes alone, so
// equal inputs give equal bits for any number of threads. Pure functions; any thread.
#pragma once

#include <cstdint>

#include "devices/device.h"
#include "kernels/loops/post_ops.h"

namespace troupe {

struct WinogradSizes {
  int64_t batch = 0, height = 0, width = 0;  ///< of the input images
  int64_t in_channels = 0, out_channels = 0;
  int64_t pad_top = 0, pad_left = 0;      ///< 0 to 2
  int64_t out_height = 0, out_width = 0;  ///< at most the padded size less 2
};

/// Returns whether the transforms pay for these sizes. Below, both numbers of channels must be multiples of winograd_channels.
bool winograd_pays(const WinogradSizes& sizes);
inline constexpr int64_t winograd_channels = 16;

/// Returns the transformed filter. With `adjoint`, the filter is that of the forward convolution, [3, 3, out_channels,
/// in_channels], and is rotated by 180 degrees: a convolution with it is the gradient of the forward convolution by its images.
/// Fails with ResourceExhausted if there is no memory.
Result<Tensor> winograd_filter(DeviceContext& device, const WinogradSizes& sizes, const float* filter,
                               bool adjoint);
/// Computes `output` [batch, out_height, out_width, out_channels] of images and a transformed filter, and applies the post-ops.
/// Fails with ResourceExhausted if there is no memory to work in.
Status winograd_convolution(DeviceContext& device, const WinogradSizes& sizes, const float* images,
                            const Tensor& filter, const PostOps& post, float* output);

/// Computes the gradient of a convolution by its filter, [3, 3, in_channels, out_channels], from the images and the gradients of
/// the outputs. Fails with ResourceExhausted if there is no memory to work in.
Status winograd_filter_gradient(DeviceContext& device, const WinogradSizes& sizes, const float* images,
                                const float* output_gradients, float* filter_gradient);

}  // namespace troupe
