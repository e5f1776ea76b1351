// ToBool: the check on the host, and the arguments that it returns to the compute function of each type of device
// (kernels/core/checked_kernel.h). Any thread may call the check.
#pragma once

#include "kernels/core/checked_kernel.h"

namespace troupe {

/// holds = for a scalar x, whether it is not zero (or not an empty string); else whether x has elements.
struct ToBoolArguments {
  const Tensor& x;
  Tensor& holds;  ///< a bool scalar
};
Result<ToBoolArguments> check_to_bool(KernelContext& context);

}  // namespace troupe
