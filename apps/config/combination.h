// The combination of gradients that train.replication.combine of a run file names, such as "median". Functions without state; one
// thread at a time per graph.
#pragma once

#include <memory>

#include "apps/config/diagnostics.h"
#include "apps/config/run_config.h"
#include "apps/nn/gradient_combination.h"

namespace troupe::config {

/// Returns what takes the place of the mean of the gradients of all shards; empty if the run file names nothing. It throws Error
/// with the mistakes in the expression. `config` must outlive it.
nn::Combination combination_of(const RunConfig& config);

/// Checks the expression by adding it to a temporary graph, for gradients of the dtype float.
void check_combination(const RunConfig& config, std::shared_ptr<const OpTable> ops, Diagnostics& diagnostics);

}  // namespace troupe::config
