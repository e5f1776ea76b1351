// The subcommand train: trains the model of a run file.
#include <CLI/CLI.hpp>

#include <memory>

#include "apps/commands/all_commands.h"
#include "apps/commands/command_support.h"
#include "apps/commands/training.h"

namespace troupe::commands {

void add_train_command(CLI::App& app, int& result) {
  const auto arguments = std::make_shared<TrainArguments>();
  auto* command =
      add_command(app, "train", "Train the model of a run file.", "troupe train examples/digits.toml");
  add_run_options(*command, *arguments);
  auto* local =
      command->add_option("--local", arguments->local,
                          "use processes of this machine, which start and end with the run: ps=1,worker=2");
  command
      ->add_option("--cluster", arguments->cluster, "use the nodes of a cluster file, which must be running")
      ->excludes(local);
  command->callback([arguments, &result] { result = train(*arguments); });
}

}  // namespace troupe::commands
