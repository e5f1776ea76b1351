// InTopK: the check on the host, and the arguments that it returns to the compute function of each type of device
// (kernels/core/checked_kernel.h). Any thread may call the check.
#pragma once

#include "kernels/core/checked_kernel.h"

namespace troupe {

/// precision[i] says whether less than k elements of row i of predictions are greater than that of the class targets[i].
struct InTopKArguments {
  const Tensor &predictions, &targets;
  Tensor& precision;
  int64_t k;
};

/// Fails with InvalidArgument unless predictions is a matrix and targets a vector with an element for each of its rows.
Result<InTopKArguments> check_in_top_k(KernelContext& context);

}  // namespace troupe
