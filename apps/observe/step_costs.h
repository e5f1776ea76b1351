// StepCosts: sums up the profiles of many steps, by device and op. One thread.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "actors/step/executor/device_profile.h"

namespace troupe::observe {

struct OpCosts {
  std::string op;
  double runs = 0, microseconds = 0;  ///< means per step
};

/// How one device spends the time of a step: means over several steps, in microseconds. The times of the ops and the three others
/// add up to that of the step, unless nodes run at the same time.
struct DeviceCosts {
  std::string device;        ///< full name
  double step = 0;           ///< the time of the whole step
  std::vector<OpCosts> ops;  ///< sorted, the most expensive first
  double between = 0;        ///< the time that the thread driving the step spends between its nodes
  double waiting = 0;        ///< the time spent waiting for other devices, variables and queues
  double outside = 0;        ///< the time before the partition of the device begins and after it has ended

  /// Returns the time of all ops together.
  double computing() const;
  /// Returns the time in which the step waits for others than this device: other devices and tasks, variables, queues, messages.
  double idle() const { return waiting + outside; }
};

class StepCosts {
 public:
  /// Adds a step that took the time `step`.
  void add(std::chrono::nanoseconds step, const std::vector<DeviceProfile>& profile);
  /// These two return means over all added steps, of which there is at least one.
  double step_microseconds() const;
  std::vector<DeviceCosts> devices() const;

 private:
  struct Sums {
    std::map<std::string, std::pair<uint64_t, std::chrono::nanoseconds>> ops;  ///< their runs and time
    std::chrono::nanoseconds driven{0}, elapsed{0};
  };
  double mean(std::chrono::nanoseconds sum) const;

  std::map<std::string, Sums> devices_;
  std::chrono::nanoseconds total_{0};
  uint64_t steps_ = 0;
};

}  // namespace troupe::observe
