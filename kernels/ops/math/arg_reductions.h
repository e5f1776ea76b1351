// ArgMax and ArgMin: the check on the host, and the arguments that it returns to the compute function of each type of device
// (kernels/core/checked_kernel.h). Any thread may call the check.
#pragma once

#include "kernels/core/checked_kernel.h"

namespace troupe {

/// For each of the `outer` x `inner` columns of the input: the index along the middle axis of the greatest (least) element, the
/// first of equal ones. NaN counts only if it comes first.
struct ArgReductionArguments {
  const Tensor& input;  ///< [outer, length, inner] elements
  Tensor& output;       ///< [outer, inner] elements, int32 or int64; the dtype can hold `length`
  size_t outer = 1, length = 1, inner = 1;  ///< `length` is at least 1 if the output has elements
};

/// Checks ArgMax and ArgMin. Fails with InvalidArgument if the dimension is outside [-rank, rank), the axis is empty, or int32
/// cannot hold the indices.
Result<ArgReductionArguments> check_arg_reduction(KernelContext& context);

}  // namespace troupe
