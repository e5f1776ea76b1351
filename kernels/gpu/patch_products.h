// Convolutions as products of two matrices, of which one has the patches of the images: a row of patches has the input elements
// on which one output position depends. This is faster than cuDNN for gradients of filters for images of few channels, as those
// that nets begin with, and for a few images of many channels: cuDNN's algorithms for floats compute on many images, and want
// filters and images in another order. Any thread may call these functions.
#pragma once

#include "kernels/gpu/convolution.h"

namespace troupe::gpu {

/// Returns whether multiply_patches() is the best way to compute a gradient of a filter for images of few channels, in either
/// layout.
bool is_product_of_patches(const ConvolutionWork& work);
/// The same for any pass over a few images with channels last, without tensor cores.
bool is_product_of_few_patches(const ConvolutionWork& work);
/// Issues a pass of one group, with channels last.
Status multiply_patches(DeviceContext& device, const ConvolutionWork& work);

}  // namespace troupe::gpu
