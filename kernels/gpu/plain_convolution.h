// Convolutions by plain loops, on GPUs and on the host: each output is summed by one thread, each element of a filter's gradient by
// a team. Serves any sizes and layouts.
#pragma once

#include "kernels/gpu/convolution.h"

namespace troupe::gpu {

/// The distances between elements of a filter, in elements: of neighbouring positions in the window, of neighbouring input channels
/// of a group, and of neighbouring output channels.
struct FilterSteps {
  int64_t window, in, out;

  /// Of [window..., in, out], as Troupe has filters.
  static FilterSteps outputs_last(const ConvolutionSizes& sizes);
  /// Of [out, window..., in], as cuDNN has them for images with channels last, or [out, in, window...].
  static FilterSteps outputs_first(const ConvolutionSizes& sizes, bool channels_last);
};

Status convolve_plainly(DeviceContext& device, const ConvolutionWork& work, const FilterSteps& steps);

}  // namespace troupe::gpu
