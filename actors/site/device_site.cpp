#include "actors/site/device_site.h"

namespace troupe {

Result<Service*> DeviceSite::find_service(std::string_view name) const {
  if (const auto at = services.find(name); at != services.end()) return at->second.get();
  std::string known;
  for (const auto& [other, service] : services) known += (known.empty() ? "" : ", ") + other;
  return unimplemented("there is no service '" + std::string(name) + "'; known: " + known);
}

ActorRef DeviceSite::owner(const StateCell& cell) const {
  for (const auto& [name, service] : services)
    if (auto actor = service->owner(cell)) return actor;
  return {};
}

void DeviceSite::drop(const StateCell& cell) const {
  for (const auto& [name, service] : services) service->drop(cell);
}

void DeviceSite::put_step(const StepKey& key, std::weak_ptr<RunningStep> step) {
  const std::lock_guard lock(mutex_);
  steps_[key] = std::move(step);
}

std::shared_ptr<RunningStep> DeviceSite::take_step(const StepKey& key) {
  const std::lock_guard lock(mutex_);
  const auto at = steps_.find(key);
  if (at == steps_.end()) return nullptr;
  auto step = at->second.lock();
  steps_.erase(at);
  return step;
}

}  // namespace troupe
