// Declarations of distributed tensors (graph/build/split.h), as the pass that splits ops reads them. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/passes/split/distribution.h"

namespace troupe {

struct Declaration {
  Distribution as;
  std::vector<std::string> devices;
  /// Whether the inputs of the node are the parts. Otherwise it has one input, the tensor.
  bool joins = false;
};

bool declares_distribution(const Node& node);
/// Fails with InvalidArgument, naming op and node, if the declaration of a node is malformed or does not fit its tensor.
Result<Declaration> declaration_of(const Graph& graph, const Node& node);

/// Returns which part of a dimension of this size a Slice cuts out of its input; nothing if it is none of them, or that is not
/// known.
std::optional<int64_t> part_cut_by(const Graph& graph, const Node& slice, int64_t dimension, int64_t size,
                                   int64_t parts);

}  // namespace troupe
