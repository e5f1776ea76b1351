// The queue service: carries out ops on queues; each queue is an actor. One per device; may be used from any thread.
#pragma once

#include "actors/services/queue/queue.h"
#include "actors/site/device_site.h"
#include "actors/site/state_actors.h"

namespace troupe {

class QueueService final : public Service {
 public:
  static constexpr std::string_view name = "queue";

  explicit QueueService(DeviceSite& site) : site_(site) {}
  static std::unique_ptr<Service> make(DeviceSite& site) { return std::make_unique<QueueService>(site); }

  Result<std::unique_ptr<const ServedNode>> prepare(const std::shared_ptr<const Graph>& graph,
                                                    const Node& node) override;
  Status open(const Node& handle, const std::shared_ptr<StateCell>& cell) override;
  void drop(StateCell& cell) override { queues_.end(cell); }

 private:
  DeviceSite& site_;
  StateActors<QueueSpec> queues_{site_, "queue"};
};

}  // namespace troupe
