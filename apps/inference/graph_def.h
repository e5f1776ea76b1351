// Graphs in TensorFlow's format, GraphDef, in programs that use the inference library. Functions without state; any thread. Public
// header.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "graph/build/graph.h"

#pragma GCC visibility push(default)
namespace troupe {

/// Reads a GraphDef in binary or text form, which need not be trusted. Functions are inlined where they are called. Nodes whose
/// ops are not in the table, and the nodes that need them, are left out (Graph::absent). Throws InvalidArgument or AlreadyExists,
/// naming node, op and attribute, if the graph is invalid, and ResourceExhausted, naming the limit, if a limit is exceeded.
Graph read_graph_def(std::string_view bytes, std::shared_ptr<const OpTable> ops);
/// Returns the graph as a GraphDef in binary form. TensorFlow and read_graph_def() can read it.
std::string write_graph_def(const Graph& graph);

}  // namespace troupe
#pragma GCC visibility pop
