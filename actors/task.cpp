#include "actors/task.h"

#include "actors/checkpoint/checkpoint.h"
#include "actors/services/replicas/replicas.h"
#include "actors/services/variable/variable.h"
#include "actors/step/device.h"
#include "actors/step/worker.h"

namespace troupe {
namespace {

/// An update that threw, or whose end nobody is told of any more, has left its cells as they may not be read.
Status values_are_there(const DeviceSite& site) {
  const std::string device = site.device->name().text();
  for (const auto& cell : site.state->cells())
    if (cell->home() == device && cell->reading() == StateCell::Reading::Busy)
      return data_loss("variable " + cell->name() + " was being changed: its value is lost");
  return {};
}

/// Between an update and its count nobody can say which rounds were applied.
Status rounds_are_known(const DeviceSite& site) {
  if (site.committing.load() == 0) return {};
  return data_loss("a round was being applied: how many were is not known");
}

std::vector<ChildSpec> permanent_actors(ActorNode& node, const std::shared_ptr<TaskSites>& task) {
  std::vector<ChildSpec> actors;
  for (const auto& site : task->sites) {
    const std::string device = site->device->name().text();
    const auto in = [&](ActorPlace DeviceSite::*place) {
      return [site, place](const ActorRef& actor) { ((*site).*place).put(actor); };
    };
    actors.push_back({task->address("device", device), [&node, site] { return spawn_device(node, site); },
                      in(&DeviceSite::device_actor)});
    actors.push_back({task->address("variable", device), [&node, site] { return spawn_variable(node, site); },
                      in(&DeviceSite::variable_actor), [site] { return values_are_there(*site); }});
    actors.push_back({task->address("replicas", device), [&node, site] { return spawn_replicas(node, site); },
                      in(&DeviceSite::replicas_actor), [site] { return rounds_are_known(*site); }});
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
                                     std::vector<std::shared_ptr<Device>> devices, OnFailure on_failure) {
  auto task = std::make_shared<TaskSites>();
  task->task = std::move(name);
  task->incarnation = incarnation;
  for (auto& device : devices)
    task->sites.push_back(std::make_shared<DeviceSite>(node, std::move(device), task->state));
  spawn_supervisor(node, task->address("supervisor"), permanent_actors(node, task), {},
                   std::move(on_failure));
  return task;
}

}  // namespace troupe
