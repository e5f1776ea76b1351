// What a run must know beside its variables to go on where it was, to and from the note of a checkpoint. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "messages/values/status.h"

namespace troupe::train {

struct Progress {
  uint64_t step = 0;                 ///< training steps done
  std::optional<double> best_score;  ///< early stopping's memory, and the epoch in which it was reached
  uint64_t best_epoch = 0;
};

std::string to_note(const Progress& progress);
/// DataLoss when the note is not one of ours.
Result<Progress> from_note(const std::string& note);

}  // namespace troupe::train
