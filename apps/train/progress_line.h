// ProgressLine: where a run is and when it will be through, in one line for a terminal. One thread, that of the trainer.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace troupe::train {

class ProgressLine {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Of a run that begins now, at `first` steps done, and has `last` at its end.
  ProgressLine(uint64_t first, uint64_t last, int64_t batch, Time begin)
      : first_(first), last_(last), batch_(batch), begin_(begin), told_(begin) {}

  /// "step 1200/1840  65 %  loss 0.0565  48210 examples/s  ETA 0:12", five times a second at most.
  std::optional<std::string> at(uint64_t step, double loss, Time now);

 private:
  const uint64_t first_, last_;
  const int64_t batch_;
  const Time begin_;
  Time told_;
};

}  // namespace troupe::train
