#include "apps/observe/step_costs.h"

#include <algorithm>

namespace troupe::observe {

double DeviceCosts::computing() const {
  double sum = 0;
  for (const OpCosts& op : ops) sum += op.microseconds;
  return sum;
}

void StepCosts::add(std::chrono::nanoseconds step, const std::vector<DeviceProfile>& profile) {
  ++steps_;
  total_ += step;
  for (const DeviceProfile& device : profile) {
    Sums& sums = devices_[device.device];
    sums.driven += device.driven;
    sums.elapsed += device.elapsed;
    for (const NodeProfile& node : device.nodes) {
      auto& [runs, time] = sums.ops[node.op];
      runs += node.runs;
      time += node.time;
    }
  }
}

double StepCosts::mean(std::chrono::nanoseconds sum) const {
  return std::chrono::duration<double, std::micro>(sum).count() / static_cast<double>(steps_);
}

double StepCosts::step_microseconds() const { return mean(total_); }

std::vector<DeviceCosts> StepCosts::devices() const {
  constexpr std::chrono::nanoseconds none{0};
  std::vector<DeviceCosts> result;
  for (const auto& [name, sums] : devices_) {
    DeviceCosts device{name, step_microseconds(), {}, 0, 0, mean(std::max(none, total_ - sums.elapsed))};
    std::chrono::nanoseconds in_nodes{0};
    for (const auto& [op, cost] : sums.ops) {
      const auto& [runs, time] = cost;
      device.ops.push_back({op, static_cast<double>(runs) / static_cast<double>(steps_), mean(time)});
      in_nodes += time;
    }
    std::ranges::sort(device.ops, std::ranges::greater{}, &OpCosts::microseconds);
    // A GPU computes its nodes while the thread has gone on.
    const auto busy = std::max(sums.driven, in_nodes);
    device.between = mean(busy - in_nodes);
    device.waiting = mean(std::max(none, sums.elapsed - busy));
    result.push_back(std::move(device));
  }
  return result;
}

}  // namespace troupe::observe
