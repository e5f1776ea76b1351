// The subcommands of the program, one file each (NAME_command.cpp), which adds its own to the command line; their list is in
// all_commands.cpp. The one that is called leaves its exit code in `result`: 0 ok, 1 failure, 2 usage or config, 3 data, 4 diverged, 130 or 143 ended in order by SIGINT or
// SIGTERM.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming): that of CLI11
class App;
}

namespace troupe::commands {

void add_all_commands(CLI::App& app, int& result);

}  // namespace troupe::commands
