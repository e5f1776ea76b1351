// L2Loss: the check on the host, and the arguments that it returns to the compute function of each type of device
// (kernels/core/checked_kernel.h). Any thread may call the check.
#pragma once

#include "kernels/core/checked_kernel.h"

namespace troupe {

/// loss = half the sum of the squares of the elements of t.
struct L2LossArguments {
  const Tensor& t;
  Tensor& loss;  ///< a scalar of the dtype of t
};
Result<L2LossArguments> check_l2_loss(KernelContext& context);

}  // namespace troupe
