// The sparse map service: carries out the ops that put sparse tensors into maps and take them out; each map is an actor. One per
// device; may be used from any thread.
#pragma once

#include "actors/services/sparse_map/sparse_map.h"
#include "actors/site/state_service.h"

namespace troupe {

class SparseMapService final : public StateService<SparseMapSpec> {
 public:
  static constexpr std::string_view name = "sparse_map";

  explicit SparseMapService(DeviceSite& site) : StateService(site, "sparse map") {}

  Result<std::unique_ptr<const ServedNode>> prepare(const std::shared_ptr<const Graph>& graph,
                                                    const Node& node) override;
  Status open(const Node& node, const std::shared_ptr<StateCell>& cell) override;
};

}  // namespace troupe
