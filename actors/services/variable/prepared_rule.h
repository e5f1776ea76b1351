// Update rules: ops that change variables, prepared once when their partition is registered. The Update messages of each step name
// a rule by its number. A rule is immutable; everything here may be used from any thread.
#pragma once

#include <memory>

#include "actors/site/numbered.h"
#include "devices/device.h"
#include "graph/build/graph.h"
#include "kernels/core/kernel.h"

namespace troupe {

struct UpdateRule {
  std::shared_ptr<const Graph> graph;  ///< keeps the node alive
  const Node* node = nullptr;
  std::unique_ptr<Kernel> kernel;
};

/// The rules of the partitions registered on one device, by the numbers that Update and PushGradient messages contain.
using RuleTable = Numbered<UpdateRule>;

/// Prepares the rule of `node`, a node of `graph`. Fails with NotFound or AlreadyExists as KernelTable::find does.
Result<std::shared_ptr<const UpdateRule>> prepare_rule(std::shared_ptr<const Graph> graph, const Node& node,
                                                       const KernelTable& kernels, Device& device);

}  // namespace troupe
