// The subcommand launch: train on the nodes of a cluster file, which it starts and ends.
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
      app, "launch", "Start every node of a cluster file, train what a run file describes, and end them all.",
      "troupe launch examples/digits.toml --cluster cluster.toml --program /opt/troupe/bin/troupe");
  add_run_options(*launch, *arguments);
  launch->add_option("--cluster", arguments->cluster, "cluster file (TOML)")->required();
  launch->add_option(
      "--ssh", how.ssh,
      "the command that runs another on a machine; host and command are added; default: " + how.ssh);
  launch->add_option("--program", how.remote_program,
                     "this program on the other machines; default: " + how.remote_program);
  launch->add_option("--folder", how.remote_folder, "where to run it there; default: where ssh begins");
  launch->add_flag("--ssh-everywhere", how.ssh_everywhere, "start nodes of this machine by ssh, too");
  launch->callback([arguments, &result] { result = train(*arguments); });
}

}  // namespace troupe::commands
