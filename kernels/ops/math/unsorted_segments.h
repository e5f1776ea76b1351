// Rows combined by segments with ids in any order: the check on the host, and the arguments that it returns to the compute function
// of each type of device (kernels/core/checked_kernel.h). Any thread may call the functions.
#pragma once

#include "kernels/core/checked_kernel.h"
#include "kernels/core/dims.h"

namespace troupe {

/// Row k of the output combines the rows of data whose id is k, in their order. Rows with a negative id are left out. The ids are
/// not checked yet: the compute function fails with InvalidArgument if an id is not below the first dimension of the output.
struct UnsortedSegmentsArguments {
  const Tensor& data;         ///< the dimensions of segment_ids, then those of a row
  const Tensor& segment_ids;  ///< int32 or int64
  Tensor& output;             ///< [num_segments, ...]
  size_t row;                 ///< the number of elements of a row
};

/// The shape function: of inputs data, segment_ids and num_segments.
Status unsorted_segments_shape(ShapeContext& context);

/// Fails with InvalidArgument if the shape of data does not begin with that of segment_ids, or num_segments is negative.
Result<UnsortedSegmentsArguments> check_unsorted_segments(KernelContext& context);

/// Fails with InvalidArgument if an id is not below num_segments. `shape` is that of the ids.
Status check_below(const Dims& ids, const Shape& shape, int64_t segments);

}  // namespace troupe
