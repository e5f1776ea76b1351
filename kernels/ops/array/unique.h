// Unique and its kin: what every type of device computes after the check on the host. How many values an output has is known only
// after a device has looked at the elements, so these kernels measure first (make_measured_kernel). Zeros of either sign are equal, a
// NaN equals nothing.
#pragma once

#include "kernels/core/checked_kernel.h"

namespace troupe {

/// y = the distinct values of x, in the order in which they first come. Measuring sets idx, firsts and distinct; computing sets y and
/// count.
struct UniqueArguments {
  const Tensor& x;       ///< a vector of at most 2^31 - 1 elements
  Tensor& idx;           ///< int32 or int64: for each element of x, its position in y
  Tensor firsts;         ///< int32, as long as x: where each distinct value comes first; memory for the run
  int64_t distinct = 0;  ///< how many of those are set
  Tensor* y = nullptr;   ///< as long as `distinct`, as is count
  Tensor* count = nullptr;  ///< dtype of idx: how often each value comes; null for Unique
};

/// For Unique and UniqueWithCounts. InvalidArgument when x is no vector or too long.
Result<UniqueArguments> check_unique(KernelContext& context);
/// Allocates the outputs after measuring.
Status allocate_unique(UniqueArguments& arguments, KernelContext& context);

/// out = the elements of x that are not in y. Measuring sets positions and kept; computing sets out and idx.
struct ListDiffArguments {
  const Tensor& x;  ///< a vector of at most 2^31 - 1 elements, as is y
  const Tensor& y;
  Tensor positions;  ///< int32, as long as x: where the elements that are kept stand in x; memory for the run
  int64_t kept = 0;  ///< how many of those are set
  Tensor* out = nullptr;  ///< as long as `kept`, as is idx
  Tensor* idx = nullptr;  ///< int32 or int64: the positions
};

/// InvalidArgument when x or y is no vector or too long.
Result<ListDiffArguments> check_list_diff(KernelContext& context);
/// Allocates the outputs after measuring.
Status allocate_list_diff(ListDiffArguments& arguments, KernelContext& context);

}  // namespace troupe
