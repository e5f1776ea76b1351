// The staging service: carries out ops on staging areas; each area is an actor. The ops have no handle: each node names its
// area itself. One per device; may be used from any thread.
#pragma once

#include "actors/services/staging/staging_spec.h"
#include "actors/site/device_site.h"
#include "actors/site/state_actors.h"

namespace troupe {

class StagingService final : public Service {
 public:
  static constexpr std::string_view name = "staging";

  explicit StagingService(DeviceSite& site) : site_(site) {}
  static std::unique_ptr<Service> make(DeviceSite& site) { return std::make_unique<StagingService>(site); }

  Result<std::unique_ptr<const ServedNode>> prepare(const std::shared_ptr<const Graph>& graph,
                                                    const Node& node) override;
  Status open(const Node& node, const std::shared_ptr<StateCell>& cell) override;
  void drop(StateCell& cell) override { areas_.end(cell); }

 private:
  DeviceSite& site_;
  StateActors<StagingSpec> areas_{site_, "staging area"};
};

}  // namespace troupe
