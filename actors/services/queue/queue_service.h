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
  /// Returns the queue service of a device.
  static const QueueService& of(const DeviceSite& site);
  /// Returns the address of the queue that an input of a node leads to. Fails with InvalidArgument if that is no queue of this
  /// device whose elements are strings.
  Result<Address> queue_of_strings(const Slot& handle) const;

  Result<std::unique_ptr<const ServedNode>> prepare(const std::shared_ptr<const Graph>& graph,
                                                    const Node& node) override;
  Status open(const Node& handle, const std::shared_ptr<StateCell>& cell) override;
  void drop(StateCell& cell) override { queues_.end(cell); }

 private:
  static constexpr const char* role = "queue";

  DeviceSite& site_;
  StateActors<QueueSpec> queues_{site_, role};
};

}  // namespace troupe
