// The allreduce service: carries out the collectives (kernels/ops/state/collectives.cpp). One per device; may be used from any
// thread.
#pragma once

#include "actors/services/allreduce/collective.h"
#include "actors/site/actor_place.h"
#include "actors/site/device_site.h"
#include "actors/site/numbered.h"

namespace troupe {

class AllreduceService final : public Service {
 public:
  static constexpr std::string_view name = "allreduce";

  explicit AllreduceService(DeviceSite& site) : site_(site) {}

  Result<std::unique_ptr<const ServedNode>> prepare(const std::shared_ptr<const Graph>& graph,
                                                    const Node& node) override;
  std::vector<ChildSpec> actors(const TaskSites& task) override;

 private:
  DeviceSite& site_;
  ActorPlace actor_;
  Numbered<Collective> collectives_;
};

}  // namespace troupe
