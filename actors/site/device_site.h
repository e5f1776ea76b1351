// DeviceSite: what the actors that work with one device share. Made when its task is made; may be used from any thread.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "actors/engine/node.h"
#include "actors/site/service.h"
#include "actors/supervision/supervisor.h"
#include "devices/device.h"
#include "kernels/core/state.h"

namespace troupe {

/// Identifies the step that a message is about.
struct StepKey {
  uint64_t session = 0, ordinal = 0, partition = 0;
  friend bool operator==(const StepKey&, const StepKey&) = default;
};

/// What executors and the actors of services share. Made by make_task().
struct DeviceSite : std::enable_shared_from_this<DeviceSite> {
  DeviceSite(ActorNode& site_node, std::shared_ptr<Device> site_device,
             std::shared_ptr<StateTable> task_state, std::shared_ptr<Supervisor> task_supervisor)
      : node(site_node), device(std::move(site_device)), state(std::move(task_state)),
        supervisor(std::move(task_supervisor)) {}

  ActorNode& node;
  std::shared_ptr<Device> device;
  /// The state of the whole task, because a container's names are unique in a task.
  std::shared_ptr<StateTable> state;
  std::shared_ptr<Supervisor> supervisor;  ///< the task's supervisor
  /// By name; complete when the task has been made.
  std::map<std::string, std::unique_ptr<Service>, std::less<>> services;

  /// Returns the service with this name. Fails with Unimplemented, listing the known services, if there is none.
  Result<Service*> find_service(std::string_view name) const;
  /// Returns the only actor that changes this variable; it also answers Read. Fails as VariableGroups::owner does.
  Result<ActorRef> owner(StateCell& cell) const;
  /// Makes every service drop what it has for this cell.
  void drop(StateCell& cell) const;
  /// Returns the address of the actor with this role that owns the cell.
  Address address(std::string role, const StateCell& cell) const;
};

}  // namespace troupe
