// The work that the subcommands train and launch share: starting the processes, training, and reporting the result.
#pragma once

#include <optional>
#include <string>

#include "apps/cluster/launch.h"
#include "apps/commands/run_file.h"

namespace troupe::commands {

struct TrainArguments {
  RunFile run;
  std::string resume;           ///< empty, "auto", or the folder of a run
  long long dry_run_steps = 0;  ///< 0: a full run
  Transport transport = Transport::Auto;
  size_t memory = 0;  ///< the limit of each process in bytes; see RuntimeOptions::memory
  bool quiet = false;
  std::string cluster;  ///< a cluster file; its nodes must be running already unless `launch` is set
  std::string local;    ///< the processes to start on this machine, such as "ps=1,worker=2"
  std::optional<cluster::LaunchOptions> launch = {};  ///< how to start the nodes of the cluster file
};

/// Adds the options that train and launch have in common.
void add_run_options(CLI::App& command, TrainArguments& arguments);
/// Trains and reports the result. Returns the exit code.
int train(const TrainArguments& arguments);

}  // namespace troupe::commands
