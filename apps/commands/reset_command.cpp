// The subcommand reset: drops state of a running cluster.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/commands/all_commands.h"
#include "apps/commands/command_support.h"
#include "apps/commands/master_options.h"
#include "apps/config/schema.h"
#include "messages/env/real_disk.h"

namespace troupe::commands {
namespace {

struct ResetArguments {
  MasterArguments master;
  std::vector<std::string> containers;
  std::string timeout = "60s";
  bool json = false;
};

int reset(const ResetArguments& arguments) try {
  RealDisk disk;
  const auto timeout = config::parse_nanoseconds(arguments.timeout);
  if (!timeout)
    throw Error(
        invalid_argument("--timeout '" + arguments.timeout + "' is not a time such as \"500ms\" or \"10s\""));
  const auto master = value_or_throw(master_of(disk, arguments.master));
  Runtime runtime({.threads = 1});
  const size_t states = runtime.reset_cluster(*master, arguments.containers, *timeout);
  if (arguments.json)
    print_json({{"dropped", states}});
  else
    std::printf("dropped %zu variables, queues and other states\n", states);
  return 0;
} catch (const Error& error) {
  return failed(error.status(), arguments.json);
}

}  // namespace

void add_reset_command(CLI::App& app, int& result) {
  const auto arguments = std::make_shared<ResetArguments>();
  auto* command =
      add_command(app, "reset",
                  "Drop the variables and all other state of a running cluster, and end the sessions there.",
                  "troupe reset --master a.lab:4242 --cluster cluster.toml --container experiment");
  add_master_options(*command, arguments->master)->required();
  command->add_option(
      "--container", arguments->containers,
      "drop only the state of nodes with this attribute container; \"localhost\" stands for nodes "
      "without it; default: all state");
  command->add_option("--timeout", arguments->timeout, "how long to wait for the nodes of the cluster (60s)");
  command->add_flag("--json", arguments->json, "print one line of JSON: {\"dropped\": NUMBER}");
  command->callback([arguments, &result] { result = reset(*arguments); });
}

}  // namespace troupe::commands
