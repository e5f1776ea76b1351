#include "apps/golden/devices.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "messages/values/device_name.h"

namespace troupe::golden {
namespace {

std::optional<DeviceName> device_of(const Node& node) {
  if (node.device.empty()) return std::nullopt;
  const auto name = DeviceName::parse(node.device);
  return name ? std::optional(*name) : std::nullopt;
}

/// The sets of nodes that must share a device: the two ends of an edge that carries a reference, resource or variant, and nodes
/// that are colocated.
class Groups {
 public:
  explicit Groups(const Graph& graph) : parent_(graph.size()) {
    std::iota(parent_.begin(), parent_.end(), NodeId{0});
    for (const Node& node : graph.nodes()) {
      for (size_t i = 0; i < node.inputs.size(); ++i)
        if (node.expects_ref[i] || is_local(graph.dtype(node.inputs[i]))) unite(node.id, node.inputs[i].node);
      for (const auto& other : node.colocate_with)
        if (const Node* const found = graph.find(other)) unite(node.id, found->id);
    }
  }
  NodeId of(NodeId node) {
    while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
    return node;
  }

 private:
  void unite(NodeId a, NodeId b) { parent_[of(a)] = of(b); }

  std::vector<NodeId> parent_;
};

}  // namespace

Result<std::vector<TaskOptions>> tasks_of(const Graph& graph, int max_devices) {
  std::vector<TaskOptions> tasks = {{}};
  int devices = 1;
  for (const Node& node : graph.nodes()) {
    const auto device = device_of(node);
    if (!device) continue;
    const std::string job = device->job.empty() ? tasks[0].job : device->job;
    const int task = std::max(device->task, 0), id = std::max(device->id, 0);
    auto at = std::ranges::find_if(tasks, [&](const auto& t) { return t.job == job && t.task == task; });
    if (at == tasks.end()) {
      at = tasks.insert(at, {job, task, 1});
      ++devices;
    }
    if (id != 0 && std::ranges::count(at->more_cpus, id) == 0) {
      at->more_cpus.push_back(id);
      ++devices;
    }
    if (devices > max_devices)
      return resource_exhausted("with device " + node.device + " the graph uses more than " +
                                std::to_string(max_devices) +
                                " devices, the limit set by RuntimeOptions::devices or --devices")
          .at_node(node.type(), node.name);
  }
  return tasks;
}

void assign_tasks(Graph& graph, const std::vector<std::string>& tasks) {
  size_t next = 0;
  const auto next_task = [&] { return tasks[next++ % tasks.size()]; };
  std::map<std::string, std::string> of_task;
  std::map<NodeId, std::string> of_group;
  Groups groups(graph);
  for (NodeId id = 0; id < graph.size(); ++id) {
    const auto device = device_of(graph.node(id));
    if (device && !device->job.empty()) {
      auto& task = of_task[device->job + "/" + std::to_string(device->task)];
      if (task.empty()) task = next_task();
      of_group[groups.of(id)] = task;
    }
  }
  for (NodeId id = 0; id < graph.size(); ++id) {
    auto& task = of_group[groups.of(id)];
    if (task.empty()) task = next_task();
    graph.set_device(id, task);
  }
}

}  // namespace troupe::golden
