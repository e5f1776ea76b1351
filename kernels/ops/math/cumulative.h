// Cumsum and Cumprod: what every type of device computes after the check on the host.
#pragma once

#include "kernels/core/checked_kernel.h"

namespace troupe {

/// The tensors as `count` lines along the axis, each of `length` elements that lie `step` apart. Element i of a line of y combines
/// elements 0 .. i of that line of x, in this order.
struct CumulativeArguments {
  const Tensor& x;
  Tensor& y;
  size_t count = 1, length = 1, step = 1;
  bool exclusive;  ///< without element i
  bool reverse;    ///< lines are counted from their ends
};

/// For Cumsum and Cumprod. InvalidArgument for an axis outside the rank.
Result<CumulativeArguments> check_cumulative(KernelContext& context);

}  // namespace troupe
