// The options that name a trained run, for the subcommands that use its model.
#pragma once

#include <string>
#include <vector>

#include "apps/runs/trained_run.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the namespace of CLI11
class App;
}

namespace troupe::commands {

struct TrainedRunOptions {
  std::string run;
  std::vector<std::string> set;  ///< the values of --set, each "a.b=c"
  size_t threads = 0;            ///< 0: one for each core
  bool json = false;
};

void add_trained_run(CLI::App& command, TrainedRunOptions& options);
/// Fails with InvalidArgument if the run is a file, or if --set gives a value to a key that does not concern the data.
Status check_trained_run(Disk& disk, const TrainedRunOptions& options);
/// Opens the run; fails as check_trained_run() and open_trained_run() do.
Result<runs::TrainedRun> open(Disk& disk, const TrainedRunOptions& options);

}  // namespace troupe::commands
