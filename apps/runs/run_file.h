// A run file with its settings, and what it leaves to be computed from the data. Functions without state that read files; any
// thread that may block.
#pragma once

#include <string>
#include <vector>

#include "apps/config/run_config.h"
#include "apps/data/sample_set.h"

namespace troupe::runs {

struct RunFileText {
  std::string text;
  std::string name;    ///< in errors: the path as the user named it
  std::string folder;  ///< to which its paths are relative
};

/// Reads a run file. Fails with InvalidArgument if the file cannot be read.
Result<RunFileText> read_run_file(Disk& disk, const std::string& path);

/// Returns the content of a run file with `settings`, without what it leaves to be computed from the data. Fails with
/// InvalidArgument, which lists all mistakes.
Result<config::RunConfig> parse_run_file(const RunFileText& file, const std::vector<std::string>& settings);

/// Returns the content of a run file with `settings`, such as "train.max_epochs=3", and with what it leaves to be computed from the
/// data (apps/train/data/fit_data.h). `resume` is the run to go on with, whose values are used instead; empty: none, "auto": the
/// newest one of this name. Fails as parse_run_file() and fit_data() do.
Result<config::RunConfig> load_run_file(Disk& disk, const RunFileText& file,
                                        std::vector<std::string> settings, const std::string& resume = {});

/// Makes a run that writes nothing compute the samples of a cache in a file again.
void leave_cache(config::RunConfig& config);

/// Returns a warning for each job of the cluster that takes no part in training, one if workers are idle, and one for each thing
/// that is probably not meant in the model and its data. Fails with InvalidArgument if the label has more classes than the loss can
/// tell apart, with DataLoss if it has negative ones, and as check_labels() does.
Result<std::vector<std::string>> warnings_of_run(Disk& disk, const config::RunConfig& config,
                                                 const data::TrainAndValid& data);

}  // namespace troupe::runs
