// ArgMax and ArgMin: what every type of device computes after the check on the host.
#pragma once

#include "kernels/core/checked_kernel.h"

namespace troupe {

/// For each of `outer` x `inner` columns of the input, the index along the middle axis of its greatest (least) element, the first
/// of equals. NaN is never chosen unless it comes first.
struct ArgReductionArguments {
  const Tensor& input;  ///< [outer, length, inner] elements
  Tensor& output;       ///< [outer, inner] elements: int32 or int64, whichever holds `length`
  size_t outer = 1, length = 1, inner = 1;  ///< length: 1 or more when the output has elements
};

/// For ArgMax and ArgMin. InvalidArgument for a dimension outside the rank, an empty axis, or indices that int32 cannot hold.
Result<ArgReductionArguments> check_arg_reduction(KernelContext& context);

}  // namespace troupe
