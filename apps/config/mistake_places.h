// Mistake places: add to the errors of data and of steps the place in the run file to which they belong. Functions without state;
// any thread that may block.
#pragma once

#include "apps/config/run_config.h"

namespace troupe::config {

/// Adds to an error about a file of the data where the run file names it, and what may have been meant.
Status with_file_place(Disk& disk, const RunConfig& config, const Status& failure);

/// Adds to an error of a node the definition or layer to which it belongs, and its place in the run file.
Status with_definition(const RunConfig& config, const Status& failure);
/// Does the same for definitions that are not those of the model, such as data.map.
Status with_definition(const RunConfig& config, const std::vector<Definition>& definitions,
                       const Status& failure);

}  // namespace troupe::config
