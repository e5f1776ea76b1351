// The subcommand launch: starts the nodes of a cluster file, trains on them, and ends them.
#include <CLI/CLI.hpp>

#include <memory>

#include "apps/commands/all_commands.h"
#include "apps/commands/command_support.h"
#include "apps/commands/training.h"

namespace troupe::commands {

void add_launch_command(CLI::App& app, int& result) {
  const auto arguments = std::make_shared<TrainArguments>();
  cluster::LaunchOptions& how = arguments->launch.emplace();
  auto* launch = add_command(
      app, "launch", "Start every node of a cluster file, train the model of a run file, and end all nodes.",
      "troupe launch examples/digits.toml --cluster cluster.toml --program /opt/troupe/bin/troupe");
  add_run_options(*launch, *arguments);
  launch->add_option("--cluster", arguments->cluster, "cluster file (TOML)")->required();
  launch->add_option("--ssh", how.ssh,
                     "the command that runs a program on another machine; Troupe appends the host and the "
                     "program; default: " +
                         how.ssh);
  launch->add_option("--program", how.remote_program,
                     "the path of troupe on the other machines; default: " + how.remote_program);
  launch->add_option("--folder", how.remote_folder,
                     "the working folder on the other machines; default: the one in which ssh starts");
  launch->add_flag("--ssh-everywhere", how.ssh_everywhere, "use ssh for the nodes of this machine, too");
  launch->callback([arguments, &result] { result = train(*arguments); });
}

}  // namespace troupe::commands
