// The subcommands that take TensorFlow's graphs: run, verify, bench, graph. Each gives its exit code: 0 ok, 1 failure, 2 usage, 3 data.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming): that of CLI11
class App;
}

namespace troupe::commands {

/// Adds them to the program's command line; the one that is called leaves its exit code in `result`.
void add_graph_commands(CLI::App& app, int& result);

}  // namespace troupe::commands
