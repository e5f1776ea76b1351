// OneHot: the check on the host, and the arguments that it returns to the compute function of each type of device
// (kernels/core/checked_kernel.h). Any thread may call the check.
#pragma once

#include "kernels/core/checked_kernel.h"

namespace troupe {

/// output[o, d, i] = on_value if indices[o, i] == d, else off_value. An index outside [0, depth) gives off_value everywhere.
struct OneHotArguments {
  const Tensor& indices;    ///< [outer, inner] elements: uint8, int8, int32 or int64
  const Tensor& on_value;   ///< a scalar
  const Tensor& off_value;  ///< a scalar of the same dtype
  Tensor& output;           ///< [outer, depth, inner] elements of that dtype
  size_t depth, inner;
};

/// Fails with InvalidArgument if depth is negative, the axis is out of range, or on_value or off_value is no scalar.
Result<OneHotArguments> check_one_hot(KernelContext& context);

}  // namespace troupe
