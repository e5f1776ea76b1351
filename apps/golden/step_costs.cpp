#include "apps/golden/step_costs.h"

#include <algorithm>

namespace troupe::golden {

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

std::vector<StepCosts::Device> StepCosts::devices() const {
  std::vector<Device> result;
  for (const auto& [name, sums] : devices_) {
    Device device{name, {}, 0, mean(sums.elapsed - sums.driven), mean(total_ - sums.elapsed)};
    std::chrono::nanoseconds in_nodes{0};
    for (const auto& [op, cost] : sums.ops) {
      const auto& [runs, time] = cost;
      device.ops.push_back({op, static_cast<double>(runs) / static_cast<double>(steps_), mean(time)});
      in_nodes += time;
    }
    std::ranges::sort(device.ops, std::ranges::greater{}, &Op::microseconds);
    device.between = mean(sums.driven - in_nodes);
    result.push_back(std::move(device));
  }
  return result;
}

}  // namespace troupe::golden
