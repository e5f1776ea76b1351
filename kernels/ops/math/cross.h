// Cross: the check on the host, and the arguments that it returns to the compute function of each type of device
// (kernels/core/checked_kernel.h). Any thread may call the check.
#pragma once

#include "kernels/core/checked_kernel.h"

namespace troupe {

/// Tensors of one shape, whose last dimension holds the 3 elements of a vector: product = a x b.
struct CrossArguments {
  const Tensor& a;
  const Tensor& b;
  Tensor& product;
};

/// Fails with InvalidArgument if the shapes differ or hold no vectors of 3 elements.
Result<CrossArguments> check_cross(KernelContext& context);

}  // namespace troupe
