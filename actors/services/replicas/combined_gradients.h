// The gradients of the shards of a round, combined by a function of the user's instead of their mean (SyncReplicasApply, attribute
// `combine`). Pure functions; any thread.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/runtime/pure_function.h"

namespace troupe {

/// Prepares the function `name` of the graph for combining gradients. Fails with NotFound if the graph has no such function, and
/// with InvalidArgument if it does not take two tensors and return one, or as PureFunction::prepare().
Result<PureFunction> prepare_combination(const Graph& graph, const std::string& name,
                                         const OpLibrary& library);

/// Returns what the function makes of the gradients of the shards that have samples, in the shape of a gradient. All gradients have
/// one dtype and one shape. Fails with InvalidArgument if no shard has samples, a number of samples is negative, or the result has
/// another dtype or number of elements than a gradient, and as PureFunction::compute().
Result<Tensor> combined(const PureFunction& function, std::span<const Tensor> gradients,
                        std::span<const int64_t> samples, DeviceContext& device);

}  // namespace troupe
