// Update rules: how an op changes variables, prepared once when a partition is registered, and named by a number in the Update
// messages of each step. Kept by the device's site. Immutable; any thread.
#pragma once

#include <memory>

#include "devices/device.h"
#include "graph/build/graph.h"
#include "kernels/core/kernel.h"

namespace troupe {

struct UpdateRule {
  std::shared_ptr<const Graph> graph;  ///< keeps the node alive
  const Node* node = nullptr;
  std::unique_ptr<Kernel> kernel;
};

/// The rule that `node`, one of the graph's, stands for. NotFound and AlreadyExists as KernelTable::find says.
Result<std::shared_ptr<const UpdateRule>> prepare_rule(std::shared_ptr<const Graph> graph, const Node& node,
                                                       const KernelTable& kernels, Device& device);

}  // namespace troupe
