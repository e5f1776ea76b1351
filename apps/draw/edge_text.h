// What an edge carries, for people. Pure functions; any thread.
#pragma once

#include <string>

#include "graph/build/graph.h"

namespace troupe::draw {

/// Returns "640 B", "6.2 KiB" and so on.
std::string bytes_text(double bytes);

/// Returns dtype and shape, and the bytes: of all of it, or, if only the first dimension is unknown, of a row: a sample, as a
/// rule.
std::string edge_text(const Graph& graph, Output output);

}  // namespace troupe::draw
