// The rules of simplify: what a single node may be replaced by. Each looks at a node whose inputs have been simplified already.
#pragma once

#include <optional>
#include <vector>

#include "graph/passes/graph_draft.h"
#include "graph/passes/simplify.h"

namespace troupe {

/// The output, already there, that output 0 of the node equals bit for bit and is dead or alive with; nothing when it computes
/// something. The node's own control inputs and device are for the caller to look at.
std::optional<Output> passed_on(const GraphDraft& draft, const Node& node);

/// The value of a Shape, Size or Rank whose answer the shape of its input gives.
std::optional<Tensor> known_metadata(const GraphDraft& draft, const Node& node);

/// The values of a pure node of constants; nothing when it is none, cannot be evaluated, or makes too much.
std::optional<std::vector<Tensor>> folded(const GraphDraft& draft, const Node& node, const Graph& empty,
                                          const SimplifyOptions& options);

}  // namespace troupe
