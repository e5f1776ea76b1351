#include "actors/services/mirror/mirror_service.h"

#include "actors/services/mirror/mirror.h"
#include "actors/services/mirror/mirror_source.h"
#include "actors/site/task_sites.h"

namespace troupe {

Result<std::unique_ptr<const ServedNode>> MirrorService::prepare(const std::shared_ptr<const Graph>&,
                                                                 const Node& node) {
  return Status(Code::Unimplemented, "the mirror service carries out no ops").at_node(node.type(), node.name);
}

std::vector<ChildSpec> MirrorService::actors(const TaskSites& task) {
  const auto site = site_.shared_from_this();
  const std::string device = site_.device->name().text();
  const Address source = task.address(mirror_source_role, device);
  return {{task.address(mirror_role, device), [site] { return spawn_mirror(site); }},
          {source, [site, source] { return spawn_mirror_source(site, source); }}};
}

}  // namespace troupe
