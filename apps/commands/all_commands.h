// The subcommands of the program, one file each (NAME_command.cpp), which adds its own to the command line. The one that is called
// leaves its exit code in `result`: 0 ok, 1 failure, 2 usage or config, 3 data, 4 diverged, 130 or 143 ended in order by SIGINT or
// SIGTERM.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming): that of CLI11
class App;
}

namespace troupe::commands {

void add_all_commands(CLI::App& app, int& result);

void add_train_command(CLI::App& app, int& result);
void add_launch_command(CLI::App& app, int& result);
void add_node_command(CLI::App& app, int& result);
void add_check_command(CLI::App& app, int& result);
void add_certs_command(CLI::App& app, int& result);
void add_version_command(CLI::App& app, int& result);

// In a build with protobuf.
void add_run_command(CLI::App& app, int& result);
void add_verify_command(CLI::App& app, int& result);
void add_bench_command(CLI::App& app, int& result);
void add_graph_command(CLI::App& app, int& result);

}  // namespace troupe::commands
