// ClipByValue: the check on the host, and the arguments that it returns to the compute function of each type of device
// (kernels/core/checked_kernel.h). Any thread may call the check.
#pragma once

#include "kernels/core/checked_kernel.h"

namespace troupe {

/// output = max(min(t, high), low), element by element. A limit is a scalar or has the shape of t.
struct ClipArguments {
  const Tensor &t, &low, &high;
  Tensor& output;
};

/// Fails with InvalidArgument if a limit has another shape.
Result<ClipArguments> check_clip(KernelContext& context);

}  // namespace troupe
