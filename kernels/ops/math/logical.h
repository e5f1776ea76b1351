// ToBool: what every type of device computes after the check on the host.
#pragma once

#include "kernels/core/checked_kernel.h"

namespace troupe {

/// holds = whether x, when it is a scalar, is not zero (or an empty string), else whether it has an element.
struct ToBoolArguments {
  const Tensor& x;
  Tensor& holds;  ///< a bool
};
Result<ToBoolArguments> check_to_bool(KernelContext& context);

}  // namespace troupe
