// The arithmetic of synchronous replication: the mean of the gradients of all shards, each weighted by its number of samples.
//   (g[0] w[0] + g[1] w[1] + ... + g[n-1] w[n-1]) / (w[0] + ... + w[n-1])
// Each product, each sum and the division is rounded separately, in the order written: bit by bit what Mul, AddN and RealDiv
// compute for n towers in one graph. The weights are added as integers and then converted to the type of the gradients. A shard
// without samples is left out, whatever its gradient; the mean of one shard is its gradient unchanged. Half and bfloat16 are
// computed in float and rounded once. Pure functions; any thread may call them.
#pragma once

#include <cstdint>
#include <span>

#include "devices/pool.h"
#include "messages/values/tensor.h"

namespace troupe {

/// Returns the sum of the weights. Fails with InvalidArgument for a negative weight, and if the sum is 0 or does not fit int64.
Result<int64_t> sum_of_weights(std::span<const int64_t> weights);
/// Allocates the memory for the mean; if there is one shard, returns its gradient. Fails with InvalidArgument for any dtype but
/// half, bfloat16, float and double, for gradients that differ in dtype or shape, for a negative weight, and for weights whose
/// sum is 0 or does not fit int64. Fails with ResourceExhausted if the allocator does.
Result<Tensor> allocate_mean(std::span<const Tensor> gradients, std::span<const int64_t> weights,
                             Allocator& memory);
/// Computes the mean into the memory that allocate_mean returned; this is the part that takes long.
void weighted_mean(std::span<const Tensor> gradients, std::span<const int64_t> weights, Tensor& mean,
                   Pool& pool);

}  // namespace troupe
