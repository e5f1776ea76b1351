// The batch service: carries out Batch, Unbatch and UnbatchGrad; each state that nodes of these ops name is an actor. One per
// device; may be used from any thread.
#pragma once

#include "actors/services/batch/batch_spec.h"
#include "actors/site/state_service.h"

namespace troupe {

class BatchService final : public StateService<BatchSpec> {
 public:
  static constexpr std::string_view name = "batch";

  explicit BatchService(DeviceSite& site) : StateService(site, "batch") {}

  Result<std::unique_ptr<const ServedNode>> prepare(const std::shared_ptr<const Graph>& graph,
                                                    const Node& node) override;
  Status open(const Node& node, const std::shared_ptr<StateCell>& cell) override;
};

}  // namespace troupe
