// The accumulator service: carries out ops on accumulators; each accumulator is an actor. One per device; may be used from any
// thread.
#pragma once

#include "actors/services/accumulator/accumulator_spec.h"
#include "actors/site/state_service.h"

namespace troupe {

class AccumulatorService final : public StateService<AccumulatorSpec> {
 public:
  static constexpr std::string_view name = "accumulator";

  explicit AccumulatorService(DeviceSite& site) : StateService(site, "accumulator") {}

  Result<std::unique_ptr<const ServedNode>> prepare(const std::shared_ptr<const Graph>& graph,
                                                    const Node& node) override;
  Status open(const Node& handle, const std::shared_ptr<StateCell>& cell) override;
};

}  // namespace troupe
