// The replicas service: carries out SyncReplicasApply and SyncReplicasAwait: gradients are pushed for a round, and their mean is
// applied once. One per device; may be used from any thread.
#pragma once

#include <atomic>

#include "actors/services/variable/variable_service.h"
#include "actors/site/actor_place.h"
#include "actors/site/device_site.h"

namespace troupe {

class ReplicasService final : public Service {
 public:
  static constexpr std::string_view name = "replicas";

  explicit ReplicasService(DeviceSite& site) : site_(site) {}
  /// Returns the replicas service of a device.
  static ReplicasService& of(const DeviceSite& site);

  Result<std::unique_ptr<const ServedNode>> prepare(const std::shared_ptr<const Graph>& graph,
                                                    const Node& node) override;
  std::vector<ChildSpec> actors(const TaskSites& task) override;

  std::atomic<size_t> committing{0};  ///< how many rounds the actor is applying

 private:
  DeviceSite& site_;
  ActorPlace actor_;
};

}  // namespace troupe
