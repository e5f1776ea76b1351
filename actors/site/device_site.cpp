#include "actors/site/device_site.h"

namespace troupe {

void DeviceSite::put_step(const StepKey& key, std::weak_ptr<RunningStep> step) {
  const std::lock_guard lock(mutex);
  steps[key] = std::move(step);
}

std::shared_ptr<RunningStep> DeviceSite::take_step(const StepKey& key) {
  const std::lock_guard lock(mutex);
  const auto at = steps.find(key);
  if (at == steps.end()) return nullptr;
  auto step = at->second.lock();
  steps.erase(at);
  return step;
}

uint64_t DeviceSite::add_rule(std::shared_ptr<const UpdateRule> rule) {
  const std::lock_guard lock(mutex);
  rules.emplace(++last_rule, std::move(rule));
  return last_rule;
}

void DeviceSite::remove_rule(uint64_t number) {
  const std::lock_guard lock(mutex);
  rules.erase(number);
}

std::shared_ptr<const UpdateRule> DeviceSite::find_rule(uint64_t number) const {
  const std::lock_guard lock(mutex);
  const auto at = rules.find(number);
  return at == rules.end() ? nullptr : at->second;
}

}  // namespace troupe
