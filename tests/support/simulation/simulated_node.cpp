#include "tests/support/simulation/simulated_node.h"

#include "actors/step/session_impl.h"
#include "devices/cpu_device.h"
#include "tests/support/ops/op_library.h"

namespace troupe::test {

SimulatedNode::SimulatedNode(Simulation& simulation, Disk& disk, Network* network, uint64_t seed)
    : host(simulation), actors(Env{host, disk, network, seed}, host, pool, op_library()) {}

SimulatedNode::SimulatedNode(Simulation& simulation, Disk& disk, size_t task_count, size_t devices_per_task)
    : SimulatedNode(simulation, disk, nullptr, 0) {
  for (size_t task = 0; task < task_count; ++task)
    add_task("/job:test/replica:0/task:" + std::to_string(task), task + 1, devices_per_task);
}

const TaskSites& SimulatedNode::add_task(const std::string& task, uint64_t incarnation, size_t device_count) {
  std::vector<std::shared_ptr<Device>> devices;
  for (size_t id = 0; id < device_count; ++id) {
    DeviceName name = value_or_throw(DeviceName::parse(task + "/device:CPU:" + std::to_string(id)));
    devices.push_back(std::make_shared<CpuDevice>(std::move(name), incarnation, pool));
  }
  return *tasks.emplace_back(make_task(actors, task, incarnation, std::move(devices)));
}

Session SimulatedNode::session(const Graph& graph, const SessionOptions& options) {
  std::vector<WorkerDevices> workers;
  for (const auto& task : tasks) workers.push_back(worker_of(*task));
  return open_session(actors, *tasks.front(), ++sessions, graph, std::move(workers), options);
}

std::shared_ptr<const std::optional<Result<AnyMessage>>> SimulatedNode::ask(const ActorRef& to,
                                                                            AnyMessage message) {
  auto answer = std::make_shared<std::optional<Result<AnyMessage>>>();
  actors.engine.send(to, std::move(message),
                     Reply([answer](Result<AnyMessage> result) { *answer = std::move(result); }));
  return answer;
}

}  // namespace troupe::test
