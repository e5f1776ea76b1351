#include "apps/train/rounds/step_sampler.h"

#include <utility>

namespace troupe::train {
namespace {

/// The first steps take longer than others.
constexpr uint64_t first_steps = 10;
constexpr std::chrono::seconds interval{2};

}  // namespace

bool StepSampler::is_due() {
  const std::lock_guard lock(mutex_);
  if (++begun_ <= first_steps) return false;
  const int64_t now = now_of(clock_);
  if (now < next_) return false;
  next_ = now + std::chrono::nanoseconds(interval).count();
  return true;
}

void StepSampler::add(std::chrono::nanoseconds step, std::vector<DeviceProfile> profile) {
  if (!task_.empty())
    std::erase_if(profile, [&](const DeviceProfile& part) { return !part.device.starts_with(task_ + '/'); });
  const std::lock_guard lock(mutex_);
  costs_.add(step, profile);
  has_news_ = true;
}

std::vector<observe::DeviceCosts> StepSampler::take() {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(has_news_, false)) return {};
  return costs_.devices();
}

}  // namespace troupe::train
