// The queue service: carries out ops on queues; each queue is an actor. One per device; may be used from any thread.
#pragma once

#include "actors/services/queue/queue.h"
#include "actors/site/state_service.h"

namespace troupe {

class QueueService final : public StateService<QueueSpec> {
 public:
  static constexpr std::string_view name = "queue";

  explicit QueueService(DeviceSite& site) : StateService(site, role) {}
  /// Returns the queue service of a device.
  static const QueueService& of(const DeviceSite& site);
  /// Returns the address of the queue that an input of a node leads to. Fails with InvalidArgument if that is no queue of this
  /// device whose elements are strings.
  Result<Address> queue_of_strings(const Slot& handle) const;

  Result<std::unique_ptr<const ServedNode>> prepare(const std::shared_ptr<const Graph>& graph,
                                                    const Node& node) override;
  Status open(const Node& handle, const std::shared_ptr<StateCell>& cell) override;

 private:
  static constexpr const char* role = "queue";
};

}  // namespace troupe
