// The arithmetic of synchronous replication for gradients that are rows of a larger tensor (IndexedSlices): the mean over all
// shards of the sums of the rows of each index, each shard weighted by its number of samples.
//   row of index k = (sum over shards s, in order, and their rows i with indices[s][i] = k, in order, of rows[s][i] w[s])
//                    / (w[0] + ... + w[n-1])
// Each index occurs once in the mean, in the order in which it occurs first. Each sum begins with zero, and each product, sum and
// division is rounded separately: bit by bit what Mul, ConcatV2, Unique, UnsortedSegmentSum and RealDiv compute in one graph. The
// rows of one shard are summed, but neither weighted nor divided. Half and bfloat16 are computed in float and rounded once. Pure
// functions; any thread may call them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "devices/pool.h"
#include "messages/values/tensor.h"

namespace troupe {

/// Rows of a larger tensor: row i of `values` belongs to row indices[i] there. `indices` is a vector of int32 or int64.
struct TensorRows {
  Tensor values, indices;
};

/// The mean of rows before it is computed.
struct RowsMean {
  TensorRows rows;  ///< `indices` are set, `values` are allocated
  /// For each row of the shards, in order: the row of the mean that it is added to.
  std::vector<size_t> places;
};

/// Allocates a mean. Fails with InvalidArgument for values of any dtype but half, bfloat16, float and double; for shards whose rows
/// or indices differ in dtype or whose rows differ in shape; if a shard does not have one index for each row; for a negative
/// weight; and for weights whose sum is 0 or does not fit int64. Fails with ResourceExhausted if the allocator does.
Result<RowsMean> allocate_rows_mean(std::span<const TensorRows> shards, std::span<const int64_t> weights,
                                    Allocator& memory);
/// Computes the values into the memory that allocate_rows_mean returned; this is the part that takes long.
void weighted_rows(std::span<const TensorRows> shards, std::span<const int64_t> weights, RowsMean& mean,
                   Pool& pool);

}  // namespace troupe
