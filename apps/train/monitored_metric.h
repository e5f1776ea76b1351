// What early stopping and the lowering of the learning rate have in common: a metric that is observed from epoch to epoch. Pure
// functions.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/config/run_config.h"
#include "apps/train/folder/progress.h"

namespace troupe::train {

/// What is measured at the end of an epoch, by name: "valid/loss" and so on.
using Record = std::vector<std::pair<std::string, double>>;

/// Updates the best score of a metric. Returns whether the metric has improved, or nothing if the record does not have it.
std::optional<bool> improves(const config::Monitor& monitor, const Record& record, uint64_t epoch,
                             Best& best);
/// Returns whether the metric has not improved for as many epochs as the run waits.
bool patience_is_over(const config::Monitor& monitor, const Best& best, uint64_t epoch);
/// Returns whether early stopping ends a run that has made this progress. False within an epoch.
bool stops_early(const config::Train& train, const Progress& progress, uint64_t steps_per_epoch);

}  // namespace troupe::train
