// The files service: carries out ReadFile, WriteFile and MatchingFiles through the files role of its device. One per device; may be
// used from any thread.
#pragma once

#include "actors/site/actor_place.h"
#include "actors/site/device_site.h"

namespace troupe {

class FilesService final : public Service {
 public:
  static constexpr std::string_view name = "files";

  explicit FilesService(DeviceSite& site) : site_(site) {}

  Result<std::unique_ptr<const ServedNode>> prepare(const std::shared_ptr<const Graph>& graph,
                                                    const Node& node) override;
  std::vector<ChildSpec> actors(const TaskSites& task) override;

 private:
  DeviceSite& site_;
  ActorPlace actor_;
};

}  // namespace troupe
