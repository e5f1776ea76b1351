// Progress: the state of a run that a checkpoint stores, as a note, in addition to the variables, so that the run can be resumed.
// Plain values; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "apps/data/sample_set.h"
#include "messages/values/status.h"

namespace troupe::train {

/// The best value of a metric so far.
struct Best {
  std::optional<double> score;  ///< nothing before the first epoch
  uint64_t epoch = 0;           ///< the epoch in which it was reached

  friend bool operator==(const Best&, const Best&) = default;
};

/// The losses of the rounds of an epoch so far.
struct EpochLoss {
  double sum = 0;
  uint64_t rounds = 0;

  void add(double loss) {
    sum += loss;
    ++rounds;
  }
  double mean() const { return sum / static_cast<double>(rounds); }
};

struct Progress {
  uint64_t step = 0;  ///< the number of completed training steps
  Best early_stop;    ///< of the metric that train.early_stop monitors
  /// Of the metric that train.plateau monitors; `epoch` is that of the last lowering of the learning rate if that was later.
  Best plateau;
  EpochLoss epoch_loss;
  uint64_t steps_per_epoch = 0;  ///< 0: not known
  data::Fingerprint data;        ///< of the samples to train on; no samples: not known

  /// Says with which samples, and how many steps for each epoch, the run goes on. Returns a warning for the user if they are others
  /// than before; otherwise empty. The best scores of other samples are forgotten.
  std::string go_on_with(const data::Fingerprint& data_now, uint64_t steps_per_epoch_now);
};

std::string to_note(const Progress& progress);
/// Fails with DataLoss if the note was not made by to_note().
Result<Progress> from_note(const std::string& note);

}  // namespace troupe::train
