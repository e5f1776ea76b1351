#include "apps/services/monitor.h"

#include <chrono>

#include "actors/engine/role.h"
#include "actors/node_services.h"
#include "actors/runtime_impl.h"
#include "messages/schemas/monitor.capnp.h"
#include "messages/wire/texts_wire.h"
#include "messages/wire/wire.h"

namespace troupe::services {
namespace {

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

class MonitorRole final : public Role {
 public:
  explicit MonitorRole(const Runtime& runtime) : runtime_(runtime), started_(seconds_now()) {
    on<wire::DescribeNode>([this](const auto& message, Reply reply) { reply(describe(*message)); });
  }

 private:
  AnyMessage describe(wire::DescribeNode::Reader message) const {
    Draft<wire::NodeDescribed> draft;
    draft->setStarted(started_);
    draft->setCpu(runtime_.services().process().processor_time());
    if (const auto& process = runtime_.impl(); process.joined.load(std::memory_order_acquire)) {
      draft->setSent(process.membership->traffic().sent);
      draft->setReceived(process.membership->traffic().received);
      draft->setUnsent(process.membership->unsent());
    }
    const auto tasks = read(message.getTasks());
    auto links = draft->initLinks(static_cast<uint32_t>(tasks.size()));
    for (uint32_t i = 0; i < tasks.size(); ++i) {
      const Status status = runtime_.link_status(tasks[i]);
      links[i].setLinked(status.ok());
      links[i].setText(as_text(status.ok() ? runtime_.transport_of(tasks[i]) : status.text()));
    }
    return draft.finish();
  }

  const Runtime& runtime_;
  const double started_;
};

class MonitorService final : public NodeService {
 public:
  explicit MonitorService(Runtime& runtime) : runtime_(runtime) {
    throw_if_failed(runtime.services().start(monitor_role, std::make_unique<MonitorRole>(runtime)));
  }
  ~MonitorService() override { runtime_.services().stop(monitor_role); }

 private:
  Runtime& runtime_;
};

}  // namespace

std::unique_ptr<NodeService> start_monitor(Runtime& runtime) {
  return std::make_unique<MonitorService>(runtime);
}

}  // namespace troupe::services
