// DeviceSite: what the actors around one device share. Made when its task is made; any thread.
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

/// Which step a message means.
struct StepKey {
  uint64_t session = 0, ordinal = 0, partition = 0;
  friend bool operator==(const StepKey&, const StepKey&) = default;
};

/// What the actors on one device share: executors and the actors of services. Made by make_task(); any thread.
struct DeviceSite : std::enable_shared_from_this<DeviceSite> {
  DeviceSite(ActorNode& site_node, std::shared_ptr<Device> site_device,
             std::shared_ptr<StateTable> task_state, std::shared_ptr<Supervisor> task_supervisor)
      : node(site_node), device(std::move(site_device)), state(std::move(task_state)),
        supervisor(std::move(task_supervisor)) {}

  ActorNode& node;
  std::shared_ptr<Device> device;
  std::shared_ptr<StateTable> state;       ///< of the task: a container's names are unique over its devices
  std::shared_ptr<Supervisor> supervisor;  ///< of the task
  std::map<std::string, std::unique_ptr<Service>, std::less<>> services;  ///< by name; all from the beginning

  /// Unimplemented, naming those there are, for the name of no service.
  Result<Service*> find_service(std::string_view name) const;
  /// The actor that alone changes the value of this variable and answers a Read of it. Fails as VariableGroups::owner says.
  Result<ActorRef> owner(StateCell& cell) const;
  /// What every service has of this state goes.
  void drop(StateCell& cell) const;
  /// Of the actor of this role that owns the cell.
  Address address(std::string role, const StateCell& cell) const;
};

}  // namespace troupe
