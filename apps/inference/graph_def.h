// Graphs in TensorFlow's formats, GraphDef and MetaGraphDef, in programs that use the inference library. Functions without state;
// any thread. Public header.
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

/// Reads the graph of a MetaGraphDef, as read_graph_def() does. The variables and the queue runners of its collections are those of
/// the graph (graph/build/variables.h, queue_runner.h). Throws DataLoss as well if a queue runner is damaged, and NotFound if the
/// graph lacks a node of one.
Graph read_meta_graph(std::string_view bytes, std::shared_ptr<const OpTable> ops);
/// Returns the graph as a MetaGraphDef in binary form, with its variables and queue runners in collections, as TensorFlow's
/// import_meta_graph() expects them. Throws InvalidArgument if the graph's note of a queue runner is damaged.
std::string write_meta_graph(const Graph& graph);

}  // namespace troupe
#pragma GCC visibility pop
