// GatherNd and ScatterNd: what every type of device computes after the check on the host. The last dimension of `indices` holds
// positions: a number for each of the first dimensions of a tensor, which together name a row of it. The elements of indices are
// not checked yet: a position outside of the tensor is InvalidArgument, as rows_at() says it (kernels/loops/rows.h).
#pragma once

#include "kernels/core/checked_kernel.h"

namespace troupe {

/// Row i of `output` is the row of `params` at position i.
struct GatherNdArguments {
  const Tensor& params;
  const Tensor& indices;  ///< int32 or int64 [..., depth], where depth is at most the rank of params
  Tensor& output;         ///< the dimensions of indices but the last, then those of params from `depth` on
};

/// InvalidArgument when indices is a scalar or has positions of more numbers than params has dimensions.
Result<GatherNdArguments> check_gather_nd(KernelContext& context);

/// output = zeros, to which row i of `updates` is added at position i, in order. Strings are joined; of bools any true one counts.
struct ScatterNdArguments {
  const Tensor& indices;  ///< int32 or int64 [..., depth], where depth is at most the rank of the output
  const Tensor&
      updates;  ///< the dimensions of indices but the last, then those of the output from `depth` on
  Tensor& output;
};

/// InvalidArgument when `shape` is no shape, or indices or updates do not fit it.
Result<ScatterNdArguments> check_scatter_nd(KernelContext& context);

}  // namespace troupe
