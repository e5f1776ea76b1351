#include "actors/site/device_site.h"

namespace troupe {

Result<Service*> DeviceSite::find_service(std::string_view name) const {
  if (const auto at = services.find(name); at != services.end()) return at->second.get();
  std::string known;
  for (const auto& [other, service] : services) known += (known.empty() ? "" : ", ") + other;
  return unimplemented("there is no service '" + std::string(name) + "'; the known services are " + known);
}

Result<ActorRef> DeviceSite::owner(StateCell& cell) const {
  TROUPE_ASSIGN(Service* const service, find_service(variable_service));
  return service->owner(cell);
}

void DeviceSite::drop(StateCell& cell) const {
  for (const auto& [name, service] : services) service->drop(cell);
}

Address DeviceSite::address(std::string role, const StateCell& cell) const {
  const Address& task = supervisor->address();
  return {task.task, task.incarnation, std::move(role), cell.name() + '#' + std::to_string(cell.id())};
}

}  // namespace troupe
