// The options that name a run file, for the subcommands train, launch and check, and the functions that read it.
#pragma once

#include <string>
#include <vector>

#include "apps/config/run_config.h"
#include "apps/data/sample_set.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the namespace of CLI11
class App;
}

namespace troupe::commands {

struct RunFile {
  std::string file;
  std::vector<std::string> set;  ///< the values of --set, each "a.b=c"
  bool json = false;
};

void add_run_file(CLI::App& command, RunFile& run);
/// Reads the run file as runs::load_run_file() does.
Result<config::RunConfig> load(const RunFile& run, const std::string& resume = {});
/// Reports that the data could not be read, as failed() does. Returns 2 (config) for InvalidArgument, otherwise 3 (data).
int failed_to_load(const Status& status, bool json);
/// Prints what is probably not meant in a run, its model and its data, unless it is to be quiet. Fails as runs::warnings_of_run()
/// does.
Status warn_of_run(Disk& disk, const config::RunConfig& config, const data::TrainAndValid& data, bool quiet);

}  // namespace troupe::commands
