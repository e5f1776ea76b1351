// ProgressLine: formats the progress of a run and its estimated end as one line for a terminal. One thread, that of the trainer.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace troupe::train {

class ProgressLine {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// For a run that begins at the time `begin` after `first` steps and ends after `last` steps. `batch` is the samples of a step.
  ProgressLine(uint64_t first, uint64_t last, int64_t batch, Time begin)
      : first_(first), last_(last), batch_(batch), begin_(begin), last_shown_(begin) {}

  /// Returns a line such as "step 1200/1840  65 %  loss 0.0565  48210 examples/s  ETA 0:12", but at most five times per second.
  std::optional<std::string> at(uint64_t step, double loss, Time now);

 private:
  const uint64_t first_, last_;
  const int64_t batch_;
  const Time begin_;
  Time last_shown_;
};

}  // namespace troupe::train
