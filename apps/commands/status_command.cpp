// The subcommand status: the state of a run.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/commands/all_commands.h"
#include "apps/commands/command_support.h"
#include "apps/observe/status_text.h"
#include "apps/observe/watched_run.h"

namespace troupe::commands {
namespace {

struct StatusArguments {
  std::string run;
  bool json = false;
};

int status_of_run(const StatusArguments& arguments) {
  const auto folder = observe::find_run(arguments.run);
  if (!folder) return failed_to_open(folder.status(), arguments.json);
  const auto state = observe::state_of_run(*folder);
  if (!state) return failed(state.status(), arguments.json);
  if (arguments.json) {
    print_json(*state);
    return 0;
  }
  for (const std::string& line : observe::status_lines(*state)) std::printf("%s\n", line.c_str());
  return 0;
}

}  // namespace

void add_status_command(CLI::App& app, int& result) {
  const auto arguments = std::make_shared<StatusArguments>();
  auto* command = add_command(app, "status", "Print the state of a run that trains, or how it has ended.",
                              "troupe status runs/digits");
  command->add_option("run", arguments->run, "the folder of a run, or of all runs of a name: the newest one")
      ->required();
  command->add_flag("--json", arguments->json, "print one line of JSON");
  command->callback([arguments, &result] { result = status_of_run(*arguments); });
}

}  // namespace troupe::commands
