// StepSampler: profiles a step from time to time, to know where the time of steps goes. Any thread.
#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <vector>

#include "actors/step/executor/device_profile.h"
#include "apps/observe/step_costs.h"
#include "messages/env/env.h"

namespace troupe::train {

class StepSampler {
 public:
  /// Only the devices of this task count, given by its full name; all devices if it is empty. The clock must outlive this object;
  /// null: the steady clock.
  explicit StepSampler(std::string task = {}, const Clock* clock = nullptr)
      : task_(std::move(task)), clock_(clock) {}
  /// Runs a step and returns what it returns. `run` is called once, with the value of StepOptions::profile.
  template <class Run>
  auto run(const Run& run) {
    if (!is_due()) return run(nullptr);
    std::vector<DeviceProfile> profile;
    const int64_t begin = now_of(clock_);
    auto results = run(&profile);
    add(std::chrono::nanoseconds(now_of(clock_) - begin), std::move(profile));
    return results;
  }
  /// Returns the means of all profiles so far, by device; nothing if none was added since the last call.
  std::vector<observe::DeviceCosts> take();

 private:
  bool is_due();
  void add(std::chrono::nanoseconds step, std::vector<DeviceProfile> profile);

  const std::string task_;
  const Clock* const clock_;
  std::mutex mutex_;  ///< guards the members below
  uint64_t begun_ = 0;
  int64_t next_ = 0;  ///< not before this time is a step profiled
  observe::StepCosts costs_;
  bool has_news_ = false;
};

}  // namespace troupe::train
