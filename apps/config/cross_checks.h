// The rules of run files that involve several keys. A function without state; any thread.
#pragma once

#include <set>
#include <string>

#include "apps/config/diagnostics.h"
#include "apps/config/run_config.h"

namespace troupe::config {

/// Checks these rules. `refused` are the paths of rejected values, about which nothing more is reported.
void check_across_keys(const RunConfig& config, const std::set<std::string>& refused,
                       Diagnostics& diagnostics);

}  // namespace troupe::config
