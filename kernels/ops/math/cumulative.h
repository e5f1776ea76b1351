// Cumsum, Cumprod and CumulativeLogsumexp: the check on the host, and the arguments that it returns to the compute function of each
// type of device (kernels/core/checked_kernel.h). Any thread may call the check.
#pragma once

#include "kernels/core/checked_kernel.h"

namespace troupe {

/// The tensors as `count` lines along the axis, each of `length` elements that are `step` apart. Element i of a line of y
/// combines elements 0 .. i of that line of x, in this order.
struct CumulativeArguments {
  const Tensor& x;
  Tensor& y;
  size_t count = 1, length = 1, step = 1;
  bool exclusive;  ///< if true, element i of y leaves out element i of x
  bool reverse;    ///< if true, lines run from their ends
};

/// Checks all three ops. Fails with InvalidArgument if the axis is outside [-rank, rank).
Result<CumulativeArguments> check_cumulative(KernelContext& context);

}  // namespace troupe
