// TopK: the check on the host, and the arguments that it returns to the compute function of each type of device
// (kernels/core/checked_kernel.h). Any thread may call the check.
#pragma once

#include "kernels/core/checked_kernel.h"

namespace troupe {

/// values and indices = the k greatest of the `columns` elements of each row, the greatest first.
struct TopKArguments {
  const Tensor& input;
  Tensor &values, &indices;
  size_t rows, columns, k;
};

/// Fails with InvalidArgument for a scalar input, for a k outside [0, columns], and if the type of the indices cannot hold one.
Result<TopKArguments> check_top_k(KernelContext& context);

}  // namespace troupe
