// The run file of train, launch and check: its options, and how it is read.
#pragma once

#include <string>
#include <vector>

#include "apps/config/run_config.h"

namespace CLI {  // NOLINT(readability-identifier-naming): that of CLI11
class App;
}

namespace troupe::commands {

struct RunFile {
  std::string file;
  std::vector<std::string> set;  ///< "a.b=c"
  bool json = false;
};

void add_run_file(CLI::App& command, RunFile& run);
Result<config::RunConfig> load(const RunFile& run);
/// The exit code of a run whose data could not be read.
int failed_to_load(const Status& status, bool json);
/// Tells of jobs of the cluster that have no part in a training, and of workers that have none, a line for each.
void warn_of_idle_tasks(const config::RunConfig& config);

}  // namespace troupe::commands
