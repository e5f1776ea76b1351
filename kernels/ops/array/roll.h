// Roll: the check on the host, and the arguments that it returns to the compute function of each type of device
// (kernels/core/checked_kernel.h). Any thread may call the check.
#pragma once

#include "kernels/core/checked_kernel.h"
#include "kernels/core/dims.h"

namespace troupe {

/// The element of the output at coordinates c is that of the input at c - shifts, modulo the sizes.
struct RollArguments {
  const Tensor& input;
  Tensor& output;
  Dims shifts;  ///< of each dimension, in [0, size) or 0 if the size is 0
};

/// Fails with InvalidArgument for a scalar input, an axis out of range, and shapes of shift and axis that differ.
Result<RollArguments> check_roll(KernelContext& context);

}  // namespace troupe
