// Gradients of the filters of convolutions as products of two matrices: that of the patches, whose rows have the input elements on
// which one output position depends, and that of the gradients of the outputs. For images of few channels, as those that nets
// begin with, this is faster than the algorithms of cuDNN that give equal bits for equal inputs. Any thread may call these
// functions.
#pragma once

#include "kernels/gpu/convolution.h"

namespace troupe::gpu {

/// Returns whether multiply_patches() is the best way to compute a pass, in either layout.
bool is_product_of_patches(const ConvolutionWork& work);
/// Issues the gradient of a filter of one group, with channels last.
Status multiply_patches(DeviceContext& device, const ConvolutionWork& work);

}  // namespace troupe::gpu
