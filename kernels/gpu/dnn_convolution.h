// Convolutions by cuDNN. Only for files that nvcc compiles.
#pragma once

#include "kernels/gpu/convolution.h"

namespace troupe::gpu {

// The axes of the convolutions have as much padding after the images as before them. The filter has its output channels first, then
// the positions of the window and the input channels of a group, or, unless channels are last, the other way round. The functions
// return false if cuDNN has no algorithm that gives equal bits for equal inputs.

/// Of `work` only the sizes count.
Result<bool> dnn_may_convolve(DeviceContext& device, const ConvolutionWork& work);
/// Issues the convolution.
Result<bool> convolve_by_dnn(DeviceContext& device, const ConvolutionWork& work);

}  // namespace troupe::gpu
