// Progress: the state of a run that a checkpoint stores, as a note, in addition to the variables, so that the run can be resumed.
// Plain values; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "messages/values/status.h"

namespace troupe::train {

struct Progress {
  uint64_t step = 0;                 ///< the number of completed training steps
  std::optional<double> best_score;  ///< the best value of the metric that early stopping monitors
  uint64_t best_epoch = 0;           ///< the epoch in which it was reached
};

std::string to_note(const Progress& progress);
/// Fails with DataLoss if the note was not made by to_note().
Result<Progress> from_note(const std::string& note);

}  // namespace troupe::train
