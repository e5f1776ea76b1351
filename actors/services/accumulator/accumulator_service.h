// The accumulator service: carries out ops on accumulators; each accumulator is an actor. One per device; may be used from any
// thread.
#pragma once

#include "actors/services/accumulator/accumulator_spec.h"
#include "actors/site/device_site.h"
#include "actors/site/state_actors.h"

namespace troupe {

class AccumulatorService final : public Service {
 public:
  static constexpr std::string_view name = "accumulator";

  explicit AccumulatorService(DeviceSite& site) : site_(site) {}
  static std::unique_ptr<Service> make(DeviceSite& site) {
    return std::make_unique<AccumulatorService>(site);
  }

  Result<std::unique_ptr<const ServedNode>> prepare(const std::shared_ptr<const Graph>& graph,
                                                    const Node& node) override;
  Status open(const Node& handle, const std::shared_ptr<StateCell>& cell) override;
  void drop(StateCell& cell) override { accumulators_.end(cell); }

 private:
  DeviceSite& site_;
  StateActors<AccumulatorSpec> accumulators_{site_, "accumulator"};
};

}  // namespace troupe
