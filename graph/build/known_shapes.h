// Shapes that become known after a graph was built: a copy of the graph for certain sizes, such as that of a batch. Plain values.
#pragma once

#include <span>
#include <utility>

#include "graph/build/graph.h"

namespace troupe {

/// Returns a copy of the graph in which these outputs have these shapes too, and all shapes are inferred anew from them. Ids and
/// names stay. Fails with InvalidArgument, naming the node, if the shapes contradict what is known, and with Unimplemented if the
/// graph has loops.
Result<Graph> with_known_shapes(const Graph& graph, std::span<const std::pair<Output, PartialShape>> known);

}  // namespace troupe
