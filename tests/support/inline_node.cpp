#include "tests/support/inline_node.h"

#include "actors/checkpoint.h"
#include "actors/session_impl.h"
#include "devices/cpu_device.h"
#include "tests/support/op_library.h"

namespace troupe::test {

InlineNode::InlineNode(Disk& disk, size_t task_count, size_t devices_per_task, uint64_t seed)
    : library(op_library()), scheduler(seed), node(Env{scheduler, disk}, scheduler, pool, library) {
  for (size_t task = 0; task < task_count; ++task) {
    std::vector<std::shared_ptr<Device>> devices;
    for (size_t id = 0; id < devices_per_task; ++id)
      devices.push_back(std::make_shared<CpuDevice>(
          DeviceName{"test", 0, static_cast<int>(task), "CPU", static_cast<int>(id)}, task + 1, pool));
    tasks.push_back(
        make_task(node, "/job:test/replica:0/task:" + std::to_string(task), task + 1, std::move(devices)));
  }
  coordinator = checkpoint_coordinator_address(tasks.front()->address("worker"));
}

Session InlineNode::session(const Graph& graph) {
  std::vector<WorkerDevices> devices;
  for (const auto& task : tasks) devices.push_back(worker_of(*task));
  return open_session(node, *tasks.front(), ++sessions, graph, std::move(devices), {});
}

std::vector<Address> InlineNode::workers() const {
  std::vector<Address> result;
  for (const auto& task : tasks) result.push_back(task->address("worker"));
  return result;
}

}  // namespace troupe::test
