// How train and launch carry out a run: processes are started, the run is trained, and what became of it is told.
#pragma once

#include <optional>
#include <string>

#include "apps/cluster/launch.h"
#include "apps/commands/run_file.h"

namespace troupe::commands {

struct TrainArguments {
  RunFile run;
  std::string resume;  ///< "", "auto", or the folder of a run
  long long dry_run_steps = 0;
  size_t memory = 0;  ///< of each process; see RuntimeOptions
  bool quiet = false;
  std::string cluster;  ///< a cluster file; its nodes run already, unless there is `launch`
  std::string local;    ///< "ps=1,worker=2": processes to start on this machine
  std::optional<cluster::LaunchOptions> launch = {};  ///< how the nodes of the cluster file are to be started
};

/// The options that train and launch have in common.
void add_run_options(CLI::App& command, TrainArguments& arguments);
/// The exit code.
int train(const TrainArguments& arguments);

}  // namespace troupe::commands
