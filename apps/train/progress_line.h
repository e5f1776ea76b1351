// ProgressLine: formats the progress of a run and its estimated end as one line. One thread, that of the trainer.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "apps/observe/run_monitor.h"

namespace troupe::train {

/// Returns a line such as "epoch 3 of 40  step 1200/1840  65 %  loss 0.0565  48210 examples/s  ETA 0:12". The loss is the mean of
/// the epoch so far. What is not known is left out.
std::string progress_text(const observe::Pace& pace);

class ProgressLine {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// `interval`: the time from the beginning to the first line and between two lines.
  ProgressLine(const observe::RunMonitor& monitor, std::chrono::nanoseconds interval, Time begin)
      : monitor_(monitor), interval_(interval), last_shown_(begin) {}

  /// Returns a line if it is time for one.
  std::optional<std::string> at(Time now);

 private:
  const observe::RunMonitor& monitor_;
  const std::chrono::nanoseconds interval_;
  Time last_shown_;
};

}  // namespace troupe::train
