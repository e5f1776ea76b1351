// Which nodes of a graph a reader does not want to see. A pure function; any thread.
#pragma once

#include <vector>

#include "apps/draw/graph_view.h"

namespace troupe::draw {

/// Returns whether a part of the node's name says that it belongs to a gradient: "gradients", "gradients_1".
bool is_gradient(const Node& node);

/// Returns, for each node, whether it is left out: what the results do not need, constants and what is computed from them
/// alone, what initialises, saves or restores variables, and, unless the options ask for them, gradients, updates of variables,
/// and what only these use.
std::vector<bool> hidden_nodes(const Graph& graph, const ViewOptions& options);

}  // namespace troupe::draw
