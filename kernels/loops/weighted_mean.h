// The arithmetic of synchronous replication: the mean of the gradients of all shards, each weighted by its samples.
//   (g[0] w[0] + g[1] w[1] + ... + g[n-1] w[n-1]) / (w[0] + ... + w[n-1])
// Each product, sum and the division is rounded on its own, in the order written: what Mul, AddN and RealDiv compute for n towers
// in one graph, bit by bit. The weights are added as integers, then brought to the type of the gradients. A shard without samples
// is left out, whatever its gradient; the mean of one shard is its gradient as it is. Half and bfloat16 are computed in float and
// rounded once. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <span>

#include "devices/pool.h"
#include "messages/values/tensor.h"

namespace troupe {

/// Memory for it; of one shard, the gradient itself. InvalidArgument for another dtype than half, bfloat16, float or double, for gradients that differ in dtype or shape, for a
/// negative weight, and for weights whose sum is 0 or does not fit. ResourceExhausted as the allocator says.
Result<Tensor> allocate_mean(std::span<const Tensor> gradients, std::span<const int64_t> weights,
                             Allocator& memory);
/// Fills it in: the half that takes long.
void weighted_mean(std::span<const Tensor> gradients, std::span<const int64_t> weights, Tensor& mean,
                   Pool& pool);

}  // namespace troupe
