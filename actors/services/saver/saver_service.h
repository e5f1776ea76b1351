// The saver service: carries out the ops that save tensors to checkpoint files of TensorFlow and restore them. One per device;
// may be used from any thread.
#pragma once

#include "actors/site/actor_place.h"
#include "actors/site/device_site.h"

namespace troupe {

class SaverService final : public Service {
 public:
  static constexpr std::string_view name = "saver";

  explicit SaverService(DeviceSite& site) : site_(site) {}

  Result<std::unique_ptr<const ServedNode>> prepare(const std::shared_ptr<const Graph>& graph,
                                                    const Node& node) override;
  std::vector<ChildSpec> actors(const TaskSites& task) override;

 private:
  DeviceSite& site_;
  ActorPlace actor_;
};

}  // namespace troupe
