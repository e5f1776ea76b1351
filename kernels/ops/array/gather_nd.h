// GatherNd and ScatterNd: the checks on the host, and the arguments that they return to the compute function of each type of
// device (kernels/core/checked_kernel.h). Any thread may call the checks. The last dimension of `indices` holds positions: one
// index for each of the first dimensions of a tensor, which together select a row of it. The elements of indices are not
// checked yet: the compute functions fail with InvalidArgument, by rows_at() (kernels/loops/rows.h), if a position is outside
// the tensor.
#pragma once

#include "kernels/core/checked_kernel.h"

namespace troupe {

/// Row i of `output` is the row of `params` at position i.
struct GatherNdArguments {
  const Tensor& params;
  const Tensor& indices;  ///< int32 or int64 [..., depth], where depth is at most the rank of params
  Tensor& output;  ///< the dimensions of indices without the last, then those of params from `depth` on
};

/// Fails with InvalidArgument if indices is a scalar or its positions have more indices than params has dimensions.
Result<GatherNdArguments> check_gather_nd(KernelContext& context);

/// output = zeros, to which row i of `updates` is added at position i, in order. Strings are concatenated; bools are combined
/// by "or".
struct ScatterNdArguments {
  const Tensor& indices;  ///< int32 or int64 [..., depth], where depth is at most the rank of the output
  /// The dimensions of indices without the last, then those of the output from `depth` on.
  const Tensor& updates;
  Tensor& output;
};

/// Fails with InvalidArgument if `shape` is no shape, or indices or updates do not fit it.
Result<ScatterNdArguments> check_scatter_nd(KernelContext& context);

}  // namespace troupe
