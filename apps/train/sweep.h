// Sweep: a search for good values of keys of a run file. Each trial is a run with other values: all combinations of lists (grid),
// or values drawn at random. With successive halving (Jamieson and Talwalkar 2016) all trials train for a few epochs, and only the
// best of them go on for more. Plain values and functions; one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "messages/values/status.h"

namespace troupe::train {

/// A key and the values to try.
struct SweepKey {
  std::string key;                  ///< such as "train.optimizer.lr"
  std::vector<std::string> values;  ///< as in a run file; empty: a range
  double low = 0, high = 0;         ///< of a range, both included
  bool logarithmic = false;         ///< the logarithms of the values of a range are drawn evenly
  bool whole = false;               ///< only whole numbers of a range
};
/// Parses "KEY=A,B,C", "KEY=LOW..HIGH" or "KEY=log:LOW..HIGH". Fails with InvalidArgument.
Result<SweepKey> parse_sweep_key(const std::string& text);

/// The values of one trial, each "KEY=VALUE".
using TrialSettings = std::vector<std::string>;
/// Returns all combinations, the values of the last key changing fastest. Fails with InvalidArgument if a key has a range, and with
/// ResourceExhausted if there are more than 10,000 combinations.
Result<std::vector<TrialSettings>> grid(const std::vector<SweepKey>& keys);
/// Fails with InvalidArgument if several trials are to be drawn, but each key has one value, so that all would be the same.
Status check_draws(const std::vector<SweepKey>& keys, int64_t count);
/// Draws this number of trials; the same seed draws the same ones.
std::vector<TrialSettings> draw_trials(const std::vector<SweepKey>& keys, int64_t count, uint64_t seed);

/// What became of a trial.
struct Trial {
  TrialSettings settings;
  std::optional<double> score;  ///< nothing if it failed or diverged
  uint64_t epochs = 0;
  double seconds = 0;
  double deviation = 0;              ///< the standard deviation of the scores of its runs
  std::vector<std::string> folders;  ///< of its runs: one for each fold
  Status failure;
};

struct SweepOptions {
  bool higher_is_better = false;
  /// If at least 2: of the trials of each stage, one of so many goes on to the next, which trains for so many times the epochs.
  int64_t halving = 0;
  int64_t first_epochs = 1;  ///< of the first stage
  int64_t max_epochs = 0;    ///< of the last stage; without halving, of each trial
};

/// Runs a trial until it has trained for this number of epochs, or goes on with it if it has folders. Updates the trial.
/// Returns false if the sweep is to end.
using RunTrial = std::function<bool(Trial& trial, int64_t epochs)>;

/// Runs the trials and returns them, the best one first; those that failed come last, and of the others those that trained longer
/// come first.
std::vector<Trial> sweep(const std::vector<TrialSettings>& trials, const SweepOptions& options,
                         const RunTrial& run);

}  // namespace troupe::train
