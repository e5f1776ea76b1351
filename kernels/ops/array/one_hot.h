// OneHot: what every type of device computes after the check on the host.
#pragma once

#include "kernels/core/checked_kernel.h"

namespace troupe {

/// output[o, d, i] = on_value where indices[o, i] == d, else off_value. An index outside of [0, depth) is on nowhere.
struct OneHotArguments {
  const Tensor& indices;    ///< uint8, int8, int32 or int64: [outer, inner]
  const Tensor& on_value;   ///< a scalar
  const Tensor& off_value;  ///< a scalar of the same dtype
  Tensor& output;           ///< of that dtype: [outer, depth, inner]
  size_t depth, inner;
};

/// InvalidArgument when depth is negative, the axis is out of range, or a value is no scalar.
Result<OneHotArguments> check_one_hot(KernelContext& context);

}  // namespace troupe
