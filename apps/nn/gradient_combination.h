// Gradient combinations: what takes the place of the mean of the gradients of all shards in synchronous replication, such as
// their median, which a few wrong shards cannot spoil (Yin et al. 2018). Any function of ops will do that keeps no state. Public
// header; one thread at a time per graph. Functions throw Error, as the graph builder does.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "graph/build/scope.h"

#pragma GCC visibility push(default)
namespace troupe::nn {

/// The gradients of a variable by those shards that have samples, in shard order.
struct ShardGradients {
  Output gradients;  ///< shape [shards, elements]
  Output samples;    ///< their numbers of samples in the dtype of the gradients; shape [shards, 1]
};

/// Adds what combines gradients to one with as many elements, of the same dtype. It may use only ops without effects and random
/// numbers, and neither loops nor conditions.
using Combination = std::function<Output(const Scope& scope, const ShardGradients& of)>;

/// Return the mean weighted by samples, the median, and the gradients sorted for each element by itself, beginning with the least;
/// the shape of mean and median is [elements].
Output mean_gradient(const Scope& scope, const ShardGradients& of);
Output median_gradient(const Scope& scope, const ShardGradients& of);
Output sorted_gradients(const Scope& scope, const ShardGradients& of);

/// Returns the combined gradient of shards whose gradients, of one dtype and shape, are in one graph. `samples` are scalars.
Output combined_gradient(const Scope& scope, const std::vector<Output>& gradients,
                         const std::vector<Output>& samples, const Combination& combination);

/// Returns the name of the function of the graph's library that combines gradients of a dtype. The first call defines it.
std::string combining_function(const Scope& scope, DType dtype, const Combination& combination);

}  // namespace troupe::nn
#pragma GCC visibility pop
