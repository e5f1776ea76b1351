// Gather, GatherV2 and ResourceGather: the check on the host, and the arguments that it returns to the compute function of each
// type of device (kernels/core/checked_kernel.h). Any thread may call the check.
#pragma once

#include "kernels/core/checked_kernel.h"
#include "kernels/loops/rows.h"

namespace troupe {

/// In each block of `output`, row i is row list[i] of the same block of `params`, where `list` is the list in `indices` that
/// holds for the block. The elements of indices are not checked yet: the compute function fails with InvalidArgument, by
/// check_indices(), if one is outside [0, slices.rows).
struct GatherArguments {
  const Tensor& params;   ///< [slices.blocks, slices.rows, slices.row] elements
  const Tensor& indices;  ///< int32 or int64; slices.lists lists of equal length
  Tensor& output;         ///< for each block, one row for each number of its list
  Slices slices;
};

/// Checks Gather, GatherV2 and ResourceGather. Fails with InvalidArgument if params is a scalar, axis or batch_dims is out of
/// range, or the batch dimensions of params and indices differ.
Result<GatherArguments> check_gather(KernelContext& context);

}  // namespace troupe
