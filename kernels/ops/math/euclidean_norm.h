// EuclideanNorm: the check on the host, and the arguments that it returns to the compute function of each type of device
// (kernels/core/checked_kernel.h). Any thread may call the check.
#pragma once

#include "kernels/ops/math/reductions.h"

namespace troupe {

/// Each element of the output is the root of the sum of the squares of the elements of the input along the reduced axes.
struct EuclideanNormArguments {
  const Tensor& input;
  Tensor& output;
  AxisSet reduced;
};
Result<EuclideanNormArguments> check_euclidean_norm(KernelContext& context);

}  // namespace troupe
