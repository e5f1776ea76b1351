// The subcommand train.
#include <CLI/CLI.hpp>

#include <memory>

#include "apps/commands/all_commands.h"
#include "apps/commands/command_support.h"
#include "apps/commands/training.h"

namespace troupe::commands {

void add_train_command(CLI::App& app, int& result) {
  const auto arguments = std::make_shared<TrainArguments>();
  auto* command =
      add_command(app, "train", "Train what a run file describes.", "troupe train examples/digits.toml");
  add_run_options(*command, *arguments);
  auto* local =
      command->add_option("--local", arguments->local,
                          "on processes of this machine, started and ended with the run: ps=1,worker=2");
  command->add_option("--cluster", arguments->cluster, "on the nodes of a cluster file, which run already")
      ->excludes(local);
  command->callback([arguments, &result] { result = train(*arguments); });
}

}  // namespace troupe::commands
