// Gather and its kin: what every type of device computes after the check on the host.
#pragma once

#include "kernels/core/checked_kernel.h"
#include "kernels/loops/rows.h"

namespace troupe {

/// In each block of `output`, row i is row list[i] of that block of `params`, where `list` is the block's among the lists in `indices`.
/// The elements of indices are not checked yet: one outside [0, slices.rows) is InvalidArgument, as check_indices() says it.
struct GatherArguments {
  const Tensor& params;   ///< [slices.blocks, slices.rows, slices.row] elements
  const Tensor& indices;  ///< int32 or int64: slices.lists lists of equal length
  Tensor& output;         ///< for each block, one row per number of its list
  Slices slices;
};

/// For Gather, GatherV2 and ResourceGather. InvalidArgument when params is a scalar, axis or batch_dims is out of range, or the batch
/// dimensions of params and indices differ.
Result<GatherArguments> check_gather(KernelContext& context);

}  // namespace troupe
