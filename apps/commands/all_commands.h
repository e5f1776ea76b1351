// The subcommands of the program. Each is defined in its own file, NAME_command.cpp, and is listed in all_commands.cpp. The
// subcommand that the user calls stores its exit code in `result`: 0 success, 1 failure, 2 wrong usage or config, 3 bad data,
// 4 the training diverged, 130 or 143 an orderly end after SIGINT or SIGTERM.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming): the namespace of CLI11
class App;
}

namespace troupe::commands {

void add_all_commands(CLI::App& app, int& result);

}  // namespace troupe::commands
