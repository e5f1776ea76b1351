// L2Loss: what every type of device computes after the check on the host.
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
