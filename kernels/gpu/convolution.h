// Convolutions on GPUs and their gradients: by cuDNN; as products where every output depends on one position, or on whole images;
// and by kernels of their own where each channel has a filter of its own. cuDNN's algorithms are chosen by the sizes alone, among
// those that give equal bits for equal inputs, and kept with the device (CudaDnn::plans). On a device without a GpuQueue plain
// loops take the place of cuDNN. Any thread may call convolve().
#pragma once

#include "kernels/loops/convolution.h"

namespace troupe::gpu {

/// One pass over images of float, double, half or bfloat16, which is summed in float. `a`, `b` and `out` are as of ConvolutionPass.
struct ConvolutionWork {
  ConvolutionPass pass;
  ConvolutionSizes sizes;
  DType dtype;
  bool channels_last;  ///< else the channels precede the positions
  const std::byte *a, *b;
  std::byte* out;
};

/// Issues the convolution. Fails with Unavailable if the system has no cuDNN but needs it.
Status convolve(DeviceContext& device, const ConvolutionWork& work);

}  // namespace troupe::gpu
