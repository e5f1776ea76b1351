// LayerNorm and LayerNormGrad: what every type of device computes after the check on the host.
#pragma once

#include "kernels/core/checked_kernel.h"

namespace troupe {

/// A tensor as rows along its last dimension.
struct NormRows {
  size_t count = 0, length = 0;
};

/// y = (x - mean) inverse scale + offset, where mean is that of the row and inverse is 1 / sqrt(its variance + epsilon).
struct LayerNormArguments {
  const Tensor &x, &scale, &offset;
  Tensor &y, &mean, &inverse;
  NormRows rows;
  float epsilon;
};
Result<LayerNormArguments> check_layer_norm(KernelContext& context);

/// The gradients by x, scale and offset.
struct LayerNormGradArguments {
  const Tensor &gradient, &x, &scale, &mean, &inverse;
  Tensor &x_gradient, &scale_gradient, &offset_gradient;
  NormRows rows;
};
Result<LayerNormGradArguments> check_layer_norm_grad(KernelContext& context);

}  // namespace troupe
