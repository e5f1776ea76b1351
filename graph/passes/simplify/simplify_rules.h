// The rules of simplify: what a single node may be replaced by. The inputs of the node were simplified before. Pure functions.
#pragma once

#include <optional>
#include <vector>

#include "graph/passes/graph_draft.h"
#include "graph/passes/simplify/simplify.h"

namespace troupe {

/// Returns the other input of a node with two inputs, if input number `side` is a constant of this number in every element that
/// leaves the other one's shape and dtype as they are.
std::optional<Output> operand_beside(const GraphDraft& draft, const Node& node, size_t side, double number);

/// Returns an existing output that output 0 of the node always equals bit for bit, and that is dead if and only if the node
/// is. Returns nothing if the node computes something. The caller checks the control inputs and the device of the node.
std::optional<Output> forwarded_output(const GraphDraft& draft, const Node& node);

/// Returns the value of a Shape, Size or Rank node if the shape of its input determines it.
std::optional<Tensor> known_metadata(const GraphDraft& draft, const Node& node);

/// Returns the outputs of a pure node whose inputs are constants. Returns nothing for
/// other nodes, if the node cannot be evaluated, or if its outputs are too large.
std::optional<std::vector<Tensor>> folded(const GraphDraft& draft, const Node& node, const Graph& empty,
                                          const SimplifyOptions& options);

}  // namespace troupe
