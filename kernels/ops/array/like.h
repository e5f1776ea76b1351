// ZerosLike and OnesLike: what every type of device computes after the check on the host.
#pragma once

#include "kernels/core/checked_kernel.h"

namespace troupe {

/// For ZerosLike and OnesLike.
struct LikeArguments {
  Tensor& output;  ///< to be filled with zeros (false, the empty string) or ones (true)
};

/// Allocates an output of the dtype and shape of the input.
Result<LikeArguments> check_like(KernelContext& context);

}  // namespace troupe
