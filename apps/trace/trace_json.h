// A timeline of steps in the trace event format, which Perfetto (ui.perfetto.dev) and Chrome (chrome://tracing) show: a process
// for each task, a track for each executor with a slice for each node that ran, a track for what comes over each link and for
// what waits for an actor, and an arrow from each Send to its Recv. Pure functions; any thread. Public header.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "actors/step/executor/device_profile.h"

#pragma GCC visibility push(default)
namespace troupe::trace {

struct TracedStep {
  std::chrono::nanoseconds begin{0}, end{0};  ///< by the master's std::chrono::steady_clock
  std::vector<DeviceProfile> devices;         ///< what StepOptions::profile has received
};

/// How the clock of a task differs from that of the master.
struct ClockOffset {
  /// What has to be subtracted from a time of the task. 0 if the clocks may be the same, as those of one host are.
  std::chrono::nanoseconds offset{0};
  /// The shortest time that messages between master and task took in a step; the offset is wrong by at most half of it.
  std::chrono::nanoseconds round_trip{0};
};

/// Estimates the offset of each task, by its name, from the step whose messages took the shortest time.
std::map<std::string, ClockOffset> clock_offsets(const std::vector<TracedStep>& steps);

/// Returns the timeline as JSON. Times are in microseconds from the begin of the first step.
std::string trace_json(const std::vector<TracedStep>& steps);

}  // namespace troupe::trace
#pragma GCC visibility pop
