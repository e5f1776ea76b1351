// The sparse map service: carries out the ops that put sparse tensors into maps and take them out; each map is an actor. One per
// device; may be used from any thread.
#pragma once

#include "actors/services/sparse_map/sparse_map.h"
#include "actors/site/device_site.h"
#include "actors/site/state_actors.h"

namespace troupe {

class SparseMapService final : public Service {
 public:
  static constexpr std::string_view name = "sparse_map";

  explicit SparseMapService(DeviceSite& site) : site_(site) {}
  static std::unique_ptr<Service> make(DeviceSite& site) { return std::make_unique<SparseMapService>(site); }

  Result<std::unique_ptr<const ServedNode>> prepare(const std::shared_ptr<const Graph>& graph,
                                                    const Node& node) override;
  Status open(const Node& node, const std::shared_ptr<StateCell>& cell) override;
  void drop(StateCell& cell) override { maps_.end(cell); }

 private:
  DeviceSite& site_;
  StateActors<SparseMapSpec> maps_{site_, "sparse map"};
};

}  // namespace troupe
