// The mirror service: keeps copies of the variables of a device on another device. It carries out no ops. One per device; any
// thread.
#pragma once

#include "actors/site/device_site.h"
#include "actors/site/service.h"

namespace troupe {

class MirrorService final : public Service {
 public:
  static constexpr std::string_view name = "mirror";

  explicit MirrorService(DeviceSite& site) : site_(site) {}

  Result<std::unique_ptr<const ServedNode>> prepare(const std::shared_ptr<const Graph>& graph,
                                                    const Node& node) override;
  std::vector<ChildSpec> actors(const TaskSites& task) override;

 private:
  DeviceSite& site_;
};

}  // namespace troupe
