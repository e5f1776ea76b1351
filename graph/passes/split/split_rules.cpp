#include "graph/passes/split/split_rules.h"

#include "graph/build/partial_values.h"

namespace troupe {

std::optional<std::vector<int64_t>> SplitNode::integers(size_t input) const {
  auto values = partial_integers(graph, node.inputs[input]);
  // Elements of -1 are unknown, or axes that count from the end: only a constant says which.
  if (!values || !graph.constant(node.inputs[input])) return std::nullopt;
  return values;
}

std::vector<SplitSignature> split_signatures(const SplitNode& node) {
  for (const auto rule : {elementwise_signatures, product_signatures, lookup_signatures, layout_signatures,
                          reduction_signatures})
    if (auto signatures = rule(node)) return std::move(*signatures);
  return {};
}

}  // namespace troupe
