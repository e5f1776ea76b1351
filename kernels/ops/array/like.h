// ZerosLike and OnesLike: the check on the host, and the arguments that it returns to the compute function of each type of
// device (kernels/core/checked_kernel.h). Any thread may call the check.
#pragma once

#include "kernels/core/checked_kernel.h"

namespace troupe {

/// The arguments of ZerosLike and OnesLike.
struct LikeArguments {
  Tensor& output;  ///< the compute function fills it with zeros (false, the empty string) or ones (true)
};

/// Allocates an output of the dtype and shape of the input.
Result<LikeArguments> check_like(KernelContext& context);

}  // namespace troupe
