// The graph of TensorFlow that run and bench take: its options, and how it is opened.
#pragma once

#include "apps/golden/graph_file.h"

namespace CLI {  // NOLINT(readability-identifier-naming): that of CLI11
class App;
}

namespace troupe::commands {

void add_graph_options(CLI::App& command, golden::GraphFileOptions& graph);
/// What is asked for and not there, a file or a node, is InvalidArgument: the usage is wrong.
golden::GraphFile open_graph(Disk& disk, const golden::GraphFileOptions& options);

}  // namespace troupe::commands
