// The subcommand version: prints the version of the program.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/commands/all_commands.h"
#include "apps/commands/command_support.h"

namespace troupe::commands {
namespace {

int version(bool json) {
  if (json)
    print_json({{"version", TROUPE_VERSION}});
  else
    std::printf("troupe %s\n", TROUPE_VERSION);
  return 0;
}

}  // namespace

void add_version_command(CLI::App& app, int& result) {
  const auto json = std::make_shared<bool>(false);
  auto* command = add_command(app, "version", "Print the version.", "troupe version --json");
  command->add_flag("--json", *json, "print JSON");
  command->callback([json, &result] { result = version(*json); });
}

}  // namespace troupe::commands
