#include "apps/train/graphs/step_memory.h"

#include "actors/step/step_compiler.h"
#include "apps/cluster/planned_tasks.h"
#include "apps/train/graphs/replication_tasks.h"
#include "apps/train/graphs/stage_devices.h"
#include "graph/build/known_shapes.h"
#include "graph/plan/peak_memory.h"

namespace troupe::train {
namespace {

using KnownShapes = std::vector<std::pair<Output, PartialShape>>;

/// Returns how many samples part i of n has (data::shards).
int64_t part_of(int64_t samples, int64_t i, int64_t n) { return samples * (i + 1) / n - samples * i / n; }

/// The shapes of the columns of all micro-batches of all shards.
KnownShapes shapes_of_columns(const Graph& graph, const TrainingGraph& training, int64_t batch) {
  KnownShapes shapes;
  const auto parts = static_cast<int64_t>(training.shards.size());
  const int64_t micro_batches = training.micro_batches, shards = parts / micro_batches;
  for (int64_t part = 0; part < parts; ++part)
    for (const auto& [name, column] : training.shards[static_cast<size_t>(part)].columns) {
      const auto known = graph.shape(column).dims();
      std::vector<int64_t> dims(known.begin(), known.end());
      const int64_t of_shard = part_of(batch, part / micro_batches, shards);
      dims.at(0) = std::max<int64_t>(1, part_of(of_shard, part % micro_batches, micro_batches));
      shapes.emplace_back(column, PartialShape(std::move(dims)));
    }
  return shapes;
}

size_t bytes_of(const Graph& graph, Output output) {
  const auto shape = graph.shape(output).to_shape(graph.dtype(output));
  return shape ? static_cast<size_t>(shape->elements()) * size_of(graph.dtype(output)) : 0;
}

std::string task_name(DeviceName device) {
  device.type.clear();
  device.id = DeviceName::unset;
  return device.text();
}

/// Adds what one device needs to the sums of its task.
Status add(const Partition& part, TaskMemory& task) {
  std::vector<Output> feeds, fetches;
  for (const PartitionEnd& end : part.feeds) feeds.push_back(end.output);
  for (const PartitionEnd& end : part.fetches) fetches.push_back(end.output);
  TROUPE_ASSIGN(const auto plan, Plan::make(std::make_shared<const Graph>(part.graph), feeds, fetches));
  TROUPE_ASSIGN(const PeakMemory peak, estimate_peak(*plan));
  task.step += peak.bytes;
  for (const Node& node : part.graph.nodes()) {
    if (node.type() == "VariableV2") task.variables += bytes_of(part.graph, {node.id, 0});
    if (const AttrValue* const receiver = node.attrs.find("recv_device");
        receiver && is_transfer(*node.op) && !node.inputs.empty() &&
        task_name(value_or_throw(DeviceName::parse(std::get<std::string>(*receiver)))) != task.task)
      task.sent += bytes_of(part.graph, node.inputs[0]);
  }
  return {};
}

}  // namespace

Result<std::vector<TaskMemory>> estimate_memory(const config::RunConfig& config, const Graph& graph,
                                                const TrainingGraph& training, const OpLibrary& library) {
  if (!config.ragged.empty())
    return unimplemented("the size of the ragged column '" + config.ragged.front().name +
                         "' differs from batch to batch");
  TROUPE_ASSIGN(const Graph sized,
                with_known_shapes(graph, shapes_of_columns(graph, training, config.batch)));
  const std::vector<TaskOptions> tasks = tasks_in_process(config);
  TROUPE_ASSIGN(const auto placed,
                place_step(sized, training_step(training), library, workers_of(tasks), {}));
  std::vector<TaskMemory> result;
  for (const auto& [task, parts] : group_by_task(placed.partitions, placed.devices)) {
    result.push_back({task_name(task), 0, 0, 0});
    for (const size_t part : parts) TROUPE_RETURN_IF_FAILED(add(placed.partitions[part], result.back()));
  }
  return result;
}

}  // namespace troupe::train
