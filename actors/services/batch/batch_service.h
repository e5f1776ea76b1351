// The batch service: carries out Batch, Unbatch and UnbatchGrad; each state that nodes of these ops name is an actor. One per
// device; may be used from any thread.
#pragma once

#include "actors/services/batch/batch_spec.h"
#include "actors/site/device_site.h"
#include "actors/site/state_actors.h"

namespace troupe {

class BatchService final : public Service {
 public:
  static constexpr std::string_view name = "batch";

  explicit BatchService(DeviceSite& site) : site_(site) {}
  static std::unique_ptr<Service> make(DeviceSite& site) { return std::make_unique<BatchService>(site); }

  Result<std::unique_ptr<const ServedNode>> prepare(const std::shared_ptr<const Graph>& graph,
                                                    const Node& node) override;
  Status open(const Node& node, const std::shared_ptr<StateCell>& cell) override;
  void drop(StateCell& cell) override { batches_.end(cell); }

 private:
  DeviceSite& site_;
  StateActors<BatchSpec> batches_{site_, "batch"};
};

}  // namespace troupe
