// Update rules: ops that change variables, prepared once when their partition is registered. The Update messages of each step name
// a rule by its number, and other tasks get it as a graph. A rule is immutable; everything here may be used from any thread.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "actors/site/numbered.h"
#include "devices/device.h"
#include "graph/build/graph.h"
#include "kernels/runtime/pure_function.h"

namespace troupe {

struct UpdateRule {
  std::shared_ptr<const Graph> graph;  ///< keeps the node alive
  const Node* node = nullptr;
  std::unique_ptr<Kernel> kernel;
  /// Makes the gradient for the rule from those of all shards; without it, it is their mean.
  std::optional<PureFunction> combination;
};

/// The rules of the partitions registered on one device, by the numbers that Update and PushGradient messages contain.
using RuleTable = Numbered<UpdateRule>;

/// Prepares the rule of `node`, a node of `graph`. Fails with NotFound or AlreadyExists as KernelTable::find does.
Result<std::shared_ptr<UpdateRule>> prepare_rule(std::shared_ptr<const Graph> graph, const Node& node,
                                                 const KernelTable& kernels, Device& device);

/// A graph of one node, which computes a rule.
struct RuleGraph {
  std::shared_ptr<const Graph> graph;
  const Node* node = nullptr;  ///< the last node of the graph
};

/// Makes the graph of a rule: a node of the op `op` whose inputs are placeholders of the types and shapes of `inputs`, edges of
/// `original`, the first `handles` of which are variables. Fails with InvalidArgument if the op does not take them.
Result<RuleGraph> rule_graph(const Graph& original, const std::string& name, const std::string& op,
                             Attributes attrs, std::span<const Output> inputs, size_t handles);

}  // namespace troupe
