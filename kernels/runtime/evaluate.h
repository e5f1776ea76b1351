// Runs one node on given tensors: for constant folding and for tests. Steps run graphs through the step
// runner instead. Any thread; waits until the result is there.
#pragma once

#include <span>
#include <vector>

#include "kernels/core/kernel.h"

namespace troupe {

/// The outputs of `node`, one of the graph's, computed from `inputs` (its data inputs in order, in the memory
/// of `device`) by the CPU kernel. InvalidArgument when inputs differ in number or dtype from what the node
/// was built with, NotFound when the op has no kernel; every failure names op and node.
Result<std::vector<Tensor>> evaluate(const OpLibrary& library, const Graph& graph, const Node& node,
                                     std::span<const Tensor> inputs, DeviceContext& device,
                                     const StepInfo& step = {});

}  // namespace troupe
