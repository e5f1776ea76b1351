// DynamicPartition and DynamicStitch: the checks on the host, and the arguments that they return to the compute function of
// each type of device (kernels/core/checked_kernel.h). Any thread may call the checks. The numbers of the rows are in host
// memory.
#pragma once

#include <span>

#include "kernels/core/checked_kernel.h"

namespace troupe {

/// Part k consists of the rows of `data` whose number in `partitions` is k, in order.
struct DynamicPartitionArguments {
  const Tensor& data;        ///< one row for each partition number
  const Tensor& partitions;  ///< int32, in host memory; each element is in [0, parts.size())
  std::span<Tensor> parts;   ///< the first dimension of each part is the number of its rows
  size_t row;                ///< the number of elements of a row
};

/// Fails with InvalidArgument if the shape of data does not begin with that of partitions, or a number is out of range.
Result<DynamicPartitionArguments> check_dynamic_partition(KernelContext& context);

/// Row indices[i][j] of `merged` is row j of data[i]. If several rows have the same index, the last one counts; rows without an
/// index are zeros.
struct DynamicStitchArguments {
  std::span<const Slot> indices;  ///< int32, in host memory; each element is in [0, rows of merged)
  std::span<const Slot> data;     ///< as many tensors as `indices`, with one row for each index
  Tensor& merged;                 ///< its number of rows is the greatest index plus one
  size_t row;                     ///< the number of elements of a row
};

/// Checks DynamicStitch and ParallelDynamicStitch. Fails with InvalidArgument if the shape of a data tensor does not begin with
/// that of its indices, the shapes of rows differ, or an index is negative.
Result<DynamicStitchArguments> check_dynamic_stitch(KernelContext& context);

}  // namespace troupe
