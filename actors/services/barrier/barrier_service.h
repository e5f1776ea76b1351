// The barrier service: carries out ops on barriers; each barrier is an actor. One per device; may be used from any thread.
#pragma once

#include "actors/services/barrier/barrier_spec.h"
#include "actors/site/state_service.h"

namespace troupe {

class BarrierService final : public StateService<BarrierSpec> {
 public:
  static constexpr std::string_view name = "barrier";

  explicit BarrierService(DeviceSite& site) : StateService(site, "barrier") {}

  Result<std::unique_ptr<const ServedNode>> prepare(const std::shared_ptr<const Graph>& graph,
                                                    const Node& node) override;
  Status open(const Node& handle, const std::shared_ptr<StateCell>& cell) override;
};

}  // namespace troupe
