// BiasAdd, BiasAddV1 and BiasAddGrad: the checks on the host, and the arguments that they return to the compute function of
// each type of device (kernels/core/checked_kernel.h). Any thread may call the checks. The first two are like other elementwise
// ops, with a bias that broadcasts as bias_shape() returns (BinaryCheck::shape_of).
#pragma once

#include "kernels/loops/elementwise.h"
#include "kernels/ops/math/reductions.h"

namespace troupe {

/// Returns the shape [channels, 1, 1...] of the bias, as which it broadcasts along the channel dimension of the value. Fails
/// with InvalidArgument if the value has no such dimension, or the bias is no vector with one element for each channel.
Result<Shape> bias_shape(const KernelContext& context);

/// Checks a sum over all axes but that of the channels. Fails with InvalidArgument if the input has no such axis.
Result<ReductionArguments> check_bias_add_grad(KernelContext& context);

}  // namespace troupe
