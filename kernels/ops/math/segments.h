// Rows combined by segments: the checks on the host, and the arguments that they return to the compute function of each type of
// device (kernels/core/checked_kernel.h). Any thread may call the checks.
#pragma once

#include <vector>

#include "kernels/core/checked_kernel.h"
#include "kernels/core/dims.h"

namespace troupe {

/// Row k of the output combines the rows of data whose id is k, in their order; a row for which there is no id is 0, or 1
/// of SegmentProd. The number
/// of rows of the output depends on the ids, so a device measures first (make_measured_kernel): measuring checks the ids and
/// sets `segments`. It fails with InvalidArgument if an id is negative, less than the one before, or the greatest int64.
struct SegmentsArguments {
  const Tensor& data;         ///< [n, ...]
  const Tensor& segment_ids;  ///< [n]: int32 or int64
  int64_t segments = 0;       ///< the last id plus one
  Tensor* output = nullptr;   ///< [segments, ...]
};

/// Checks SegmentSum, SegmentMean, SegmentProd, SegmentMax and SegmentMin. Fails with InvalidArgument if data is a scalar or
/// segment_ids does not have one element for each row of data.
Result<SegmentsArguments> check_segments(KernelContext& context);
/// Allocates the output after measuring.
Status allocate_segments(SegmentsArguments& arguments, KernelContext& context);

/// Returns the number of segments: the last id plus one. Fails with InvalidArgument if the int32 or int64 ids are not in
/// ascending order from 0 on.
Result<int64_t> count_of_segments(const Tensor& segment_ids);
/// Returns where each run of equal ids begins, and the end of the last run.
std::vector<size_t> starts_of_runs(std::span<const int64_t> ids);

}  // namespace troupe
