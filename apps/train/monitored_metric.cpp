#include "apps/train/monitored_metric.h"

#include <algorithm>
#include <cmath>

namespace troupe::train {

std::optional<bool> improves(const config::Monitor& monitor, const Record& record, uint64_t epoch,
                             Best& best) {
  const auto found = std::ranges::find(record, monitor.metric, &Record::value_type::first);
  if (found == record.end()) return {};
  const double value = found->second;
  if (std::isnan(value)) return false;
  const double gain = best.score ? (monitor.higher_is_better ? value - *best.score : *best.score - value) : 0;
  if (best.score && !(gain > monitor.min_delta)) return false;
  best = {value, epoch};
  return true;
}

bool patience_is_over(const config::Monitor& monitor, const Best& best, uint64_t epoch) {
  return epoch - best.epoch >= static_cast<uint64_t>(monitor.patience);
}

bool stops_early(const config::Train& train, const Progress& progress, uint64_t steps_per_epoch) {
  return train.early_stop && progress.early_stop.score && progress.step % steps_per_epoch == 0 &&
         patience_is_over(train.early_stop->monitor, progress.early_stop, progress.step / steps_per_epoch);
}

}  // namespace troupe::train
