// A snapshot of a run as counters and gauges for Prometheus, under names that begin with "troupe_". A pure function.
#pragma once

#include <string>

#include "apps/observe/run_monitor.h"

namespace troupe::observe {

/// Returns the text format of Prometheus. Every sample has the label "run", the name of the run.
std::string run_metrics(const RunSnapshot& run);

}  // namespace troupe::observe
