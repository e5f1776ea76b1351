// Unique, UniqueWithCounts and ListDiff: the checks on the host, and the arguments that they return to the compute function of
// each type of device (kernels/core/checked_kernel.h). Any thread may call the checks. The number of values of an output
// depends on the elements, so these kernels measure first (make_measured_kernel). Zeros of either sign are equal; a NaN equals
// nothing.
#pragma once

#include "kernels/core/checked_kernel.h"

namespace troupe {

/// y = the distinct values of x, in the order of their first occurrence. Measuring sets idx, firsts and distinct; computing
/// sets y and count.
struct UniqueArguments {
  const Tensor& x;       ///< a vector of at most 2^31 - 1 elements
  Tensor& idx;           ///< int32 or int64; for each element of x, its position in y
  Tensor firsts;         ///< int32, as long as x: the first position of each distinct value; scratch memory
  int64_t distinct = 0;  ///< the number of distinct values
  Tensor* y = nullptr;   ///< `distinct` elements, like count
  Tensor* count = nullptr;  ///< how often each value occurs, in the dtype of idx; null for Unique
};

/// Checks Unique and UniqueWithCounts. Fails with InvalidArgument if x is no vector or too long.
Result<UniqueArguments> check_unique(KernelContext& context);
/// Allocates the outputs after measuring.
Status allocate_unique(UniqueArguments& arguments, KernelContext& context);

/// out = the elements of x that are not in y. Measuring sets positions and kept; computing sets out and idx.
struct ListDiffArguments {
  const Tensor& x;  ///< a vector of at most 2^31 - 1 elements, like y
  const Tensor& y;
  /// int32, as long as x: the positions in x of the elements that are kept; scratch memory.
  Tensor positions;
  int64_t kept = 0;       ///< the number of elements that are kept
  Tensor* out = nullptr;  ///< `kept` elements, like idx
  Tensor* idx = nullptr;  ///< int32 or int64; the positions
};

/// Fails with InvalidArgument if x or y is no vector or too long.
Result<ListDiffArguments> check_list_diff(KernelContext& context);
/// Allocates the outputs after measuring.
Status allocate_list_diff(ListDiffArguments& arguments, KernelContext& context);

}  // namespace troupe
