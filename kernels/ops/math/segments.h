// Rows combined by segments: what every type of device computes after the check on the host.
#pragma once

#include "kernels/core/checked_kernel.h"

namespace troupe {

/// Row k of the output combines the rows of data whose id is k, in their order; a row that no id names is 0. How many rows the
/// output has follows from the ids, so a device measures first (make_measured_kernel): measuring checks the ids and sets
/// `segments`. InvalidArgument for an id that is negative, less than the one before, or the greatest int64.
struct SegmentsArguments {
  const Tensor& data;         ///< [n, ...]
  const Tensor& segment_ids;  ///< [n]: int32 or int64
  int64_t segments = 0;       ///< one more than the last id
  Tensor* output = nullptr;   ///< [segments, ...]
};

/// For SegmentSum, SegmentMean, SegmentMax and SegmentMin. InvalidArgument when data is a scalar or segment_ids does not count its
/// rows.
Result<SegmentsArguments> check_segments(KernelContext& context);
/// Allocates the output after measuring.
Status allocate_segments(SegmentsArguments& arguments, KernelContext& context);

/// Row k of the output is the sum of the rows of data whose id is k, in their order; a row that no id names is 0. Rows with a
/// negative id are left out. The ids are not checked yet: InvalidArgument for one that is not below the first dimension of the
/// output.
struct UnsortedSegmentSumArguments {
  const Tensor& data;         ///< the dimensions of segment_ids, then those of a row
  const Tensor& segment_ids;  ///< int32 or int64
  Tensor& output;             ///< [num_segments, ...]
  size_t row;                 ///< elements of a row
};

/// InvalidArgument when data does not begin with the dimensions of segment_ids, or num_segments is negative.
Result<UnsortedSegmentSumArguments> check_unsorted_segment_sum(KernelContext& context);

}  // namespace troupe
