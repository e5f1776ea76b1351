// The options that name a graph file of TensorFlow, for the subcommands run and bench, and the function that opens it.
#pragma once

#include "apps/golden/graph_file.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the namespace of CLI11
class App;
}

namespace troupe::commands {

void add_graph_options(CLI::App& command, golden::GraphFileOptions& graph);
/// Opens the graph. Throws Error as GraphFile does, but with InvalidArgument (wrong usage) in place of NotFound if a file or node
/// that the options name does not exist.
golden::GraphFile open_graph(Disk& disk, const golden::GraphFileOptions& options);

}  // namespace troupe::commands
