// Runs one node on given tensors, for constant folding and for tests; steps use StepRunner instead. Any thread may call it; the
// call returns when the result is there.
#pragma once

#include <span>
#include <vector>

#include "kernels/core/kernel.h"

namespace troupe {

/// Returns the outputs of `node`, a node of `graph`, computed by its CPU kernel. `inputs` are the data inputs in order, in the
/// memory of `device`. Fails with InvalidArgument if number or dtypes of the inputs differ from those of the node, and with
/// NotFound if the op has no kernel; every error names op and node.
Result<std::vector<Tensor>> evaluate(const OpLibrary& library, const Graph& graph, const Node& node,
                                     std::span<const Tensor> inputs, DeviceContext& device,
                                     const StepInfo& step = {});

}  // namespace troupe
