// StepCosts: where the time of many steps went, by device and op. One thread.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "actors/step/device_profile.h"

namespace troupe::golden {

class StepCosts {
 public:
  struct Op {
    std::string name;
    double runs = 0, microseconds = 0;  ///< in a step
  };
  /// Of one device: all of it together is the time of a step, in microseconds.
  struct Device {
    std::string name;
    std::vector<Op> ops;  ///< what costs most first
    double between = 0;   ///< of the thread that drives the step, between its nodes
    double waiting = 0;   ///< for other devices, for variables and queues
    double outside =
        0;  ///< before the part of the device began and after it ended: messages, and what others do
  };

  void add(std::chrono::nanoseconds step, const std::vector<DeviceProfile>& profile);
  /// Means over the steps added.
  double step_microseconds() const;
  std::vector<Device> devices() const;

 private:
  struct Sums {
    std::map<std::string, std::pair<uint64_t, std::chrono::nanoseconds>> ops;  ///< runs and time
    std::chrono::nanoseconds driven{0}, elapsed{0};
  };
  double mean(std::chrono::nanoseconds sum) const;

  std::map<std::string, Sums> devices_;
  std::chrono::nanoseconds total_{0};
  uint64_t steps_ = 0;
};

}  // namespace troupe::golden
