#include "actors/device.h"

#include "messages/device.capnp.h"

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

namespace {

class DeviceRole final : public Role {
 public:
  explicit DeviceRole(std::shared_ptr<DeviceSite> site) : site_(std::move(site)) {
    on<wire::ExecuteStep>([this](const Message<wire::ExecuteStep>& message, Reply reply) {
      const auto step = site_->take_step(
          {message->getStep().getSession(), message->getStep().getOrdinal(), message->getPartition()});
      if (!step) return reply(not_found("no such step waits for this device"));
      step->begin(std::move(reply));
    });
  }

 private:
  std::shared_ptr<DeviceSite> site_;
};

}  // namespace

ActorRef spawn_device(ActorNode& node, std::shared_ptr<DeviceSite> site) {
  return node.engine.spawn(std::make_unique<DeviceRole>(std::move(site)));
}

}  // namespace troupe
