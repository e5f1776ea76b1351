// DynamicPartition and DynamicStitch: what every type of device computes after the check on the host. The numbers of the rows are
// in host memory.
#pragma once

#include <span>

#include "kernels/core/checked_kernel.h"

namespace troupe {

/// Part k has the rows of `data` whose number in `partitions` is k, in order.
struct DynamicPartitionArguments {
  const Tensor& data;        ///< one row for each partition number
  const Tensor& partitions;  ///< int32, in host memory: each is in [0, parts.size())
  std::span<Tensor> parts;   ///< their first dimension is the number of their rows
  size_t row;                ///< elements of a row
};

/// InvalidArgument when the shape of partitions does not begin that of data, or a number is out of range.
Result<DynamicPartitionArguments> check_dynamic_partition(KernelContext& context);

/// Row indices[i][j] of `merged` is row j of data[i]. Of several with the same index the last one counts; rows that none names are
/// zeros.
struct DynamicStitchArguments {
  std::span<const Slot> indices;  ///< int32, in host memory: each is in [0, rows of merged)
  std::span<const Slot> data;     ///< as many tensors as `indices`: one row for each index
  Tensor& merged;                 ///< as many rows as the greatest index asks for
  size_t row;                     ///< elements of a row
};

/// For DynamicStitch and ParallelDynamicStitch. InvalidArgument when the shape of indices does not begin that of its data, the
/// shapes of rows differ, or an index is negative.
Result<DynamicStitchArguments> check_dynamic_stitch(KernelContext& context);

}  // namespace troupe
