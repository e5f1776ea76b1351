// Unique, UniqueWithCounts, UniqueV2, UniqueWithCountsV2 and ListDiff: the checks on the host, and the arguments that they return
// to the compute function of each type of device (kernels/core/checked_kernel.h). Any thread may call the checks. The number of
// values of an output depends on the elements, so these kernels measure first (make_measured_kernel). Zeros of either sign are
// equal; a NaN equals nothing.
#pragma once

#include "kernels/core/checked_kernel.h"

namespace troupe {

/// y = the distinct slices of x along an axis, in the order of their first occurrence. Measuring sets idx, firsts and distinct;
/// computing sets y and count.
struct UniqueArguments {
  const Tensor& x;  ///< at most 2^31 - 1 slices; for Unique and UniqueWithCounts a vector
  size_t axis;      ///< 0 for a vector
  Tensor& idx;      ///< int32 or int64; for each slice of x, its position in y
  /// int32, one element for each slice: the first position of each distinct one.
  Tensor firsts;
  int64_t distinct = 0;  ///< the number of distinct slices
  Tensor* y = nullptr;   ///< of the shape of x but for `distinct` slices along the axis
  /// How often each slice occurs, in the dtype of idx; null for Unique and UniqueV2.
  Tensor* count = nullptr;
};

/// Checks Unique, UniqueWithCounts and their V2. Fails with InvalidArgument if x is not a vector and has no axis, if the axis is
/// outside [-rank, rank), or if there are too many slices.
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
