// The SparseSegment ops and their gradients: the checks on the host, and the arguments that they return to the compute function of
// each type of device (kernels/core/checked_kernel.h). Any thread may call the functions.
#pragma once

#include <string_view>

#include "graph/ops/partial_shape.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/dims.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/ops/math/segments.h"

namespace troupe {

/// Fails with InvalidArgument if `rows`, the argument `name`, is the shape of a scalar, or the other two are not those of
/// vectors of the same size.
Status check_segment_shapes(const PartialShape& rows, std::string_view name, const PartialShape& indices,
                            const PartialShape& ids);

/// Row k of the output combines the rows data[indices[i]] for all i whose id is k, in order of i; a row without an id is 0.
struct SparseSegmentsArguments {
  const Tensor& data;         ///< [n, ...]
  const Tensor& indices;      ///< int32 or int64 [count]; not checked yet
  const Tensor& segment_ids;  ///< int32 or int64 [count]
  bool counts_ids;   ///< the ids are in host memory, and checked: they say how many segments there are
  int64_t segments;  ///< the number of rows of the output
  Tensor& output;    ///< [segments, ...]
};

/// Checks SparseSegmentSum, SparseSegmentMean, SparseSegmentSqrtN and their forms with input num_segments. Fails with
/// InvalidArgument if the shapes do not fit, num_segments is negative, or, without it, the ids are wrong.
Result<SparseSegmentsArguments> check_sparse_segments(KernelContext& context);

/// Row r of the output is the sum of the terms grad[segment_ids[i]] for all i with indices[i] == r, in order of i, each times
/// segment_factor() of its segment.
struct SegmentGradientArguments {
  const Tensor& grad;         ///< [segments, ...]
  const Tensor& indices;      ///< int32 or int64 [count]; not checked yet
  const Tensor& segment_ids;  ///< int32 or int64 [count]; not checked yet
  int64_t rows;               ///< output_dim0
  Tensor* output = nullptr;   ///< [output_dim0, ...], or of the rows that occur
  // For the ops that yield only these:
  Tensor* unique = nullptr;  ///< the numbers of these rows, ascending
  Dims to = {};              ///< for each index, the row of the output that it stands for
  Dims occurring = {};       ///< the elements of unique
};

/// Checks SparseSegmentSumGrad, SparseSegmentMeanGrad and SparseSegmentSqrtNGrad. Fails with InvalidArgument if the shapes do not
/// fit, or output_dim0 is negative.
Result<SegmentGradientArguments> check_segment_gradient(KernelContext& context);

/// Returns the factor of each term of a segment that has `count` terms.
template <class T>
TROUPE_ANY ComputeType<T> segment_factor(SegmentDivisor divisor, size_t count) {
  return static_cast<ComputeType<T>>(1 / divisor_of<double>(divisor, count));
}

}  // namespace troupe
