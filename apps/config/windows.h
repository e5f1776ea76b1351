// The columns of stretches of a series (data.window) in a graph. Functions without state; one thread at a time per graph.
#pragma once

#include <set>
#include <string>

#include "apps/config/data_map.h"
#include "apps/data/options.h"

namespace troupe::config {

/// Returns columns [stretches, length, ...] as those of the samples of all stretches, [stretches * length, ...]. This function and
/// the next ones leave the label as it is, and do nothing if the options have no window.
Columns samples_of_windows(const data::Options& options, const Scope& scope, const Columns& columns);

/// Does the reverse.
Columns windows_of_samples(const data::Options& options, const Scope& scope, const Columns& columns);

/// Returns placeholders for stretches of samples of columns [batch, ...], some of whose sizes may be unknown.
Columns placeholders_of_windows(const data::Options& options, const Scope& scope, const Columns& columns);

}  // namespace troupe::config
