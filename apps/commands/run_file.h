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
/// Reads the run file, and computes from the data what it leaves to be computed (apps/train/fit_data.h). `resume` is the run to go
/// on with, whose values are used instead; empty: none, "auto": the newest one of this name.
Result<config::RunConfig> load(const RunFile& run, const std::string& resume = {});
/// Makes a command that writes nothing compute the samples of a cache in a file again.
void leave_cache(config::RunConfig& config);
/// Reports that the data could not be read, as failed() does. Returns 2 (config) for InvalidArgument, otherwise 3 (data).
int failed_to_load(const Status& status, bool json);
/// Prints a warning for each job of the cluster that takes no part in training, and one if workers are idle.
void warn_of_idle_tasks(const config::RunConfig& config);
/// Prints a warning for what is probably not meant in a model and its data.
void warn_of_model(const config::RunConfig& config, const data::SampleSet& samples);

}  // namespace troupe::commands
