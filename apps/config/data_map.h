// The map of a run file: columns that expressions compute from those of the files (data.map and data.augment), as a part of a
// graph. One thread per graph.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "apps/config/run_config.h"

namespace troupe::config {

/// Columns by name, in order: tensors [batch, ...].
using Columns = std::vector<std::pair<std::string, Output>>;

/// Adds the definitions to the graph, in a loop over the samples of a batch. Each sees the columns of its sample and the results of
/// those before it, and adds a column or replaces one. Returns all columns. The result is complete if no mistakes were added to
/// `diagnostics`.
Columns build_data_map(const std::vector<Definition>& definitions, const Scope& scope, const Columns& columns,
                       Diagnostics& diagnostics);

}  // namespace troupe::config
