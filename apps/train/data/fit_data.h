// What a run file leaves to be computed from the samples to train on: the names and weights of classes, and how the columns of a
// table are normalized and encoded. A function without state that reads files; any thread that may block.
#pragma once

#include <string>
#include <vector>

#include "apps/config/run_config.h"
#include "messages/env/disk.h"

namespace troupe::train {

/// Returns the missing values, as options for load_run_config(): "data.columns.age.center=[38.5]". They become a part of the config
/// of the run, so that its workers and the trained model use the same ones. Returns nothing if the run file leaves nothing to be
/// computed, and may do so if load_data() fails. Fails with InvalidArgument if the samples do not suffice, and with DataLoss if
/// they are damaged.
Result<std::vector<std::string>> fit_data(Disk& disk, const config::RunConfig& config);

/// Returns, as such options, the values that an earlier run has computed and the run file does not give: a run that is resumed
/// keeps them, even if its files have changed.
std::vector<std::string> fitted_before(const config::RunConfig& config, const config::RunConfig& earlier);

}  // namespace troupe::train
