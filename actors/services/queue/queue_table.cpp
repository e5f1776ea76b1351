#include "actors/services/queue/queue_table.h"

#include <algorithm>

namespace troupe {

Result<QueueSpec> queue_spec(const Node& handle) {
  QueueSpec spec;
  spec.name = state_name(handle);
  spec.types = handle.attrs.get<std::vector<DType>>("component_types");
  spec.capacity = std::max<int64_t>(handle.attrs.get<int64_t>("capacity"), -1);
  const auto& shapes = handle.attrs.get<std::vector<PartialShape>>("shapes");
  if (!shapes.empty() && shapes.size() != spec.types.size())
    return invalid_argument(std::to_string(shapes.size()) + " shapes for " +
                            std::to_string(spec.types.size()) + " components");
  for (size_t i = 0; i < shapes.size(); ++i) {
    TROUPE_ASSIGN(Shape shape, shapes[i].to_shape(spec.types[i]));
    spec.shapes.push_back(std::move(shape));
  }
  return spec;
}

Status QueueTable::open(ActorNode& node, const std::shared_ptr<Device>& device,
                        std::shared_ptr<const StateCell> cell, const QueueSpec& spec) {
  if (device->memory_kind() == MemoryKind::Device)
    return unimplemented("a queue keeps its elements in host memory: place it on a CPU");
  const std::lock_guard lock(mutex_);
  Entry& entry = queues_[cell.get()];
  if (!entry.queue) {
    entry.queue = std::make_shared<const Queue>(Queue{spec, spawn_queue(node, spec, device)});
    entry.cell = std::move(cell);
  }
  if (entry.queue->spec == spec) return {};
  return invalid_argument("queue '" + spec.name + "' is there as " + entry.queue->spec.text() +
                          ", wanted as " + spec.text());
}

void QueueTable::end(Engine& engine, const StateCell& cell) {
  const std::lock_guard lock(mutex_);
  if (const auto ended = queues_.extract(&cell); !ended.empty()) engine.stop(ended.mapped().queue->actor);
}

std::shared_ptr<const Queue> QueueTable::find(const StateCell& cell) const {
  const std::lock_guard lock(mutex_);
  const auto at = queues_.find(&cell);
  return at == queues_.end() ? nullptr : at->second.queue;
}

}  // namespace troupe
