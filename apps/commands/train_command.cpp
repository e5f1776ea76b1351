// The subcommand train: trains the model of a run file.
#include <CLI/CLI.hpp>

#include <memory>

#include "apps/commands/all_commands.h"
#include "apps/commands/command_support.h"
#include "apps/commands/rank_options.h"
#include "apps/commands/training.h"

namespace troupe::commands {

void add_train_command(CLI::App& app, int& result) {
  const auto arguments = std::make_shared<TrainArguments>();
  auto* command =
      add_command(app, "train", "Train the model of a run file.", "troupe train examples/digits.toml");
  add_run_options(*command, *arguments);
  const auto [local, file] = add_cluster_options(*command, *arguments);
  auto* ranks = command
                    ->add_flag("--ranks", arguments->ranks,
                               "mpirun or srun has started this command once per rank: rank 0 trains, the "
                               "others are its nodes, also with --cluster, and end with it")
                    ->excludes(local);
  for (auto* option : add_rank_options(*command, arguments->resolver, *file)) option->needs(ranks);
  command->callback([arguments, &result] { result = train(*arguments); });
}

}  // namespace troupe::commands
