// BiasAdd, BiasAddV1 and BiasAddGrad: what every type of device computes after the check on the host. The first two are as other
// elementwise ops, with a bias that broadcasts as bias_shape() says (BinaryCheck::shape_of).
#pragma once

#include "kernels/loops/elementwise.h"
#include "kernels/ops/math/reductions.h"

namespace troupe {

/// The shape [channels, 1, 1...] for the bias, so that it broadcasts along the value's dimension of channels. InvalidArgument when
/// the value has no such dimension, or the bias is no vector of as many elements.
Result<Shape> bias_shape(const KernelContext& context);

/// A sum over all axes but that of the channels. InvalidArgument when the input has no such axis.
Result<ReductionArguments> check_bias_add_grad(KernelContext& context);

}  // namespace troupe
