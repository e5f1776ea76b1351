// The barrier service: carries out ops on barriers; each barrier is an actor. One per device; may be used from any thread.
#pragma once

#include "actors/services/barrier/barrier_spec.h"
#include "actors/site/device_site.h"
#include "actors/site/state_actors.h"

namespace troupe {

class BarrierService final : public Service {
 public:
  static constexpr std::string_view name = "barrier";

  explicit BarrierService(DeviceSite& site) : site_(site) {}
  static std::unique_ptr<Service> make(DeviceSite& site) { return std::make_unique<BarrierService>(site); }

  Result<std::unique_ptr<const ServedNode>> prepare(const std::shared_ptr<const Graph>& graph,
                                                    const Node& node) override;
  Status open(const Node& handle, const std::shared_ptr<StateCell>& cell) override;
  void drop(StateCell& cell) override { barriers_.end(cell); }

 private:
  DeviceSite& site_;
  StateActors<BarrierSpec> barriers_{site_, "barrier"};
};

}  // namespace troupe
