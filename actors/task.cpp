#include "actors/task.h"

#include <algorithm>
#include <iterator>

#include "actors/checkpoint/checkpoint.h"
#include "actors/services/all_services.h"
#include "actors/step/executor/worker.h"

namespace troupe {
namespace {

std::vector<ChildSpec> permanent_actors(ActorNode& node, const std::shared_ptr<TaskSites>& task) {
  std::vector<ChildSpec> actors;
  for (const auto& site : task->sites) {
    for (const auto& [name, service] : site->services)
      std::ranges::move(service->actors(*task), std::back_inserter(actors));
  }
  const Address worker = task->address("worker");
  actors.push_back({worker, [&node, task] { return spawn_worker(node, task); }});
  actors.push_back(
      {checkpoint_writer_address(worker), [&node, task] { return spawn_checkpoint_writer(node, task); }});
  actors.push_back(
      {checkpoint_coordinator_address(worker), [&node] { return spawn_checkpoint_coordinator(node); }});
  return actors;
}

}  // namespace

std::shared_ptr<TaskSites> make_task(ActorNode& node, std::string name, uint64_t incarnation,
                                     std::vector<std::shared_ptr<Device>> devices, OnFailure on_failure,
                                     std::span<const ServiceDef> more_services) {
  auto task = std::make_shared<TaskSites>();
  task->task = std::move(name);
  task->incarnation = incarnation;
  const auto supervisor = std::make_shared<Supervisor>(node, task->address("supervisor"), RestartIntensity{},
                                                       std::move(on_failure));
  for (auto& device : devices) {
    const auto& site = task->sites.emplace_back(
        std::make_shared<DeviceSite>(node, std::move(device), task->state, supervisor));
    for (const auto services : {all_services(), more_services})
      for (const ServiceDef& service : services) site->services.emplace(service.name, service.make(*site));
  }
  for (ChildSpec& child : permanent_actors(node, task)) {
    const ActorRef actor = child.spawn();
    if (child.placed) child.placed(actor, ChildSpec::Standing::Serves);
    supervisor->add(std::move(child), actor);
  }
  return task;
}

}  // namespace troupe
