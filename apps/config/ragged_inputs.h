// The ragged columns of a run file (data.ragged), as inputs of its model. One thread per graph.
#pragma once

#include "apps/config/data_map.h"

namespace troupe::config {

/// Adds placeholders for the ragged columns, and removes the columns of which they are made. Adds a mistake to `diagnostics` if
/// such a column is missing or has no strings, or if two columns have one name.
Columns ragged_inputs(const RunConfig& config, const Scope& scope, Columns columns, Diagnostics& diagnostics);

}  // namespace troupe::config
