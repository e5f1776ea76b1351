// What follows a product or a convolution on GPUs, in one pass over its output.
#pragma once

#include "kernels/ops/nn/fused_products.h"

namespace troupe::gpu {

/// Applies the stages to `out`, floats whose last dimension counts the channels. The tensors lie in device memory.
Status apply_post_ops(DeviceContext& device, const PostArguments& post, Tensor& out);

}  // namespace troupe::gpu
