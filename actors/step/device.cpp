#include "actors/step/device.h"

#include "messages/schemas/device.capnp.h"

namespace troupe {
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
