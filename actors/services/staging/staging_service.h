// The staging service: carries out ops on staging areas; each area is an actor. The ops have no handle: each node names its
// area itself. One per device; may be used from any thread.
#pragma once

#include "actors/services/staging/staging_spec.h"
#include "actors/site/state_service.h"

namespace troupe {

class StagingService final : public StateService<StagingSpec> {
 public:
  static constexpr std::string_view name = "staging";

  explicit StagingService(DeviceSite& site) : StateService(site, "staging area") {}

  Result<std::unique_ptr<const ServedNode>> prepare(const std::shared_ptr<const Graph>& graph,
                                                    const Node& node) override;
  Status open(const Node& node, const std::shared_ptr<StateCell>& cell) override;
};

}  // namespace troupe
