// Rows combined by segments: the check on the host, and the arguments that it returns to the compute function of each type of
// device (kernels/core/checked_kernel.h). Any thread may call the functions.
#pragma once

#include <cmath>
#include <vector>

#include "kernels/core/checked_kernel.h"
#include "kernels/core/dims.h"
#include "kernels/gpu/any.h"

namespace troupe {

/// Row k of the output combines the rows of data whose id is k, in their order; a row for which there is no id is 0, or 1 of
/// SegmentProd. The number of rows of the output depends on the ids, so these are in host memory.
struct SegmentsArguments {
  const Tensor& data;         ///< [n, ...]
  const Tensor& segment_ids;  ///< [n]: int32 or int64, in ascending order from 0 on
  int64_t segments;           ///< the last id plus one
  Tensor& output;             ///< [segments, ...]
};

/// Checks SegmentSum, SegmentMean, SegmentProd, SegmentMax and SegmentMin. Fails with InvalidArgument if data is a scalar,
/// segment_ids does not have one element for each row of data, or as count_of_segments() does.
Result<SegmentsArguments> check_segments(KernelContext& context);

/// Returns the number of segments: the last id plus one. Fails with InvalidArgument if the int32 or int64 ids are not in
/// ascending order from 0 on, or the last one is the greatest int64.
Result<int64_t> count_of_segments(const Tensor& segment_ids);
/// Returns where each run of equal ids begins, and the end of the last run.
std::vector<size_t> starts_of_runs(std::span<const int64_t> ids);

/// Allocates output 0, which has a row like those of data for each segment.
Result<Tensor*> segments_output(KernelContext& context, const Tensor& data, int64_t segments);

/// By what the sum of a segment is divided.
enum class SegmentDivisor : uint8_t { One, Count, RootOfCount };

/// Returns the divisor of a sum of `count` terms.
template <class T>
TROUPE_ANY T divisor_of(SegmentDivisor divisor, size_t count) {
  if (divisor == SegmentDivisor::Count) return static_cast<T>(count);
  return divisor == SegmentDivisor::RootOfCount ? std::sqrt(static_cast<T>(count)) : T{1};
}

}  // namespace troupe
