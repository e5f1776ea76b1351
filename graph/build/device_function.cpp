#include "graph/build/device_function.h"

#include <algorithm>

#include "messages/values/device_name.h"

namespace troupe {
namespace {

void require_tasks(int64_t tasks) {
  if (tasks < 1)
    throw Error(invalid_argument("the number of parameter servers is " + std::to_string(tasks) +
                                 "; it must be at least 1"));
}

int64_t bytes_of(const NodeSpec& variable) {
  const auto* const shape = std::get_if<PartialShape>(variable.attrs.find("shape"));
  const auto* const dtype = std::get_if<DType>(variable.attrs.find("dtype"));
  if (!shape || !dtype) return 0;  // a table, whose size nobody knows
  if (!shape->fully_known())
    throw Error(invalid_argument("[" + variable.op + "] " + variable.name + ": its shape is " +
                                 shape->text() +
                                 "; a choice of servers by bytes needs a shape without unknown sizes"));
  return value_or_throw(shape->to_shape(*dtype)).elements() * static_cast<int64_t>(size_of(*dtype));
}

/// Returns the node whose reference or resource the new node uses: the placer puts both on one device. Null: there is none.
const Node* owner_of(const Graph& graph, const NodeSpec& node) {
  if (node.inputs.empty() || !graph.check_tensor(node.inputs[0]).ok()) return nullptr;
  const EdgeType& type = graph.type(node.inputs[0]);
  const OpDef* const op = graph.ops()->find(node.op);
  const bool by_reference = type.is_ref && op && !op->inputs.empty() && op->inputs[0].is_ref;
  return by_reference || type.dtype == DType::Resource ? &graph.node(node.inputs[0].node) : nullptr;
}

class Replicas {
 public:
  explicit Replicas(ReplicaDevices options)
      : ps_tasks_(options.ps_tasks), ps_ops_(std::move(options.ps_ops)),
        ps_(value_or_throw(DeviceName::parse(options.ps_device))),
        worker_(value_or_throw(DeviceName::parse(options.worker_device))),
        choice_(std::move(options.choice)) {
    if (ps_tasks_ == 0) {
      ps_ops_.clear();
    } else {
      require_tasks(ps_tasks_);
      if (!choice_) choice_ = in_turn(ps_tasks_);
    }
  }

  std::string operator()(const Graph& graph, const NodeSpec& node) const {
    const DeviceName inside = value_or_throw(DeviceName::parse(node.device));
    if (std::ranges::find(ps_ops_, node.op) != ps_ops_.end())
      return override_with(server_of(node, inside), inside).text();
    const Node* const owner = owner_of(graph, node);
    const DeviceName outer = owner ? value_or_throw(DeviceName::parse(owner->device)) : worker_;
    return override_with(outer, inside).text();
  }

 private:
  DeviceName server_of(const NodeSpec& node, const DeviceName& inside) const {
    DeviceName server = ps_;
    const bool elsewhere = !inside.job.empty() && inside.job != ps_.job;
    if (!elsewhere && inside.task == DeviceName::unset) server.task = task_of(node);
    return server;
  }

  int task_of(const NodeSpec& node) const {
    const int64_t task = choice_(node);
    if (task >= 0 && task < ps_tasks_) return static_cast<int>(task);
    throw Error(invalid_argument("[" + node.op + "] " + node.name +
                                 ": the parameter server chosen for it is " + std::to_string(task) +
                                 "; it must be from 0 to " + std::to_string(ps_tasks_ - 1)));
  }

  int64_t ps_tasks_;
  std::vector<std::string> ps_ops_;
  DeviceName ps_, worker_;
  TaskChoice choice_;
};

}  // namespace

TaskChoice in_turn(int64_t tasks) {
  require_tasks(tasks);
  return [tasks, next = int64_t{0}](const NodeSpec&) mutable { return next++ % tasks; };
}

TaskChoice by_bytes(int64_t tasks) {
  require_tasks(tasks);
  return [bytes = std::vector<int64_t>(static_cast<size_t>(tasks))](const NodeSpec& variable) mutable {
    const auto least = std::ranges::min_element(bytes);
    *least += bytes_of(variable);
    return least - bytes.begin();
  };
}

DeviceFunction replica_devices(ReplicaDevices options) {
  const auto replicas = std::make_shared<const Replicas>(std::move(options));
  return [replicas](const Graph& graph, const NodeSpec& node) { return (*replicas)(graph, node); };
}

}  // namespace troupe
