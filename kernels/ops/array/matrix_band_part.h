// MatrixBandPart: the check on the host, and the arguments that it returns to the compute function of each type of device
// (kernels/core/checked_kernel.h). Any thread may call the check.
#pragma once

#include "kernels/core/checked_kernel.h"

namespace troupe {

/// Element (m, n) of each matrix of the output is that of the input where m - n <= lower and n - m <= upper, and zero elsewhere.
struct BandArguments {
  const Tensor* input = nullptr;  ///< null when the output is written over it
  Tensor* output = nullptr;       ///< null when the band holds everything: the output is the input
  int64_t lower = 0, upper = 0;
};

/// Fails with InvalidArgument if the input holds no matrices, or the band is wider than they are.
Result<BandArguments> check_band(KernelContext& context);

}  // namespace troupe
