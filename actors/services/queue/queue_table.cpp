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

namespace {

std::shared_ptr<Queue> open_queue(DeviceSite& site, const StateCell& cell, const QueueSpec& spec) {
  auto queue = std::make_shared<Queue>(spec, site.address("queue", cell));
  const ActorRef actor = spawn_queue(site.node, spec, site.device);
  queue->actor.put(actor);
  ChildSpec child{queue->address};
  child.placed = [queue](const ActorRef& placed, ChildSpec::Standing) { queue->actor.put(placed); };
  child.recoverable = [name = spec.name] {
    return data_loss("the elements of queue '" + name + "' are lost");
  };
  site.supervisor->add(std::move(child), actor);
  return queue;
}

}  // namespace

Status QueueTable::open(DeviceSite& site, std::shared_ptr<const StateCell> cell, const QueueSpec& spec) {
  if (site.device->memory_kind() == MemoryKind::Device)
    return unimplemented("a queue keeps its elements in host memory: place it on a CPU");
  const std::lock_guard lock(mutex_);
  Entry& entry = queues_[cell.get()];
  if (!entry.queue) {
    entry.queue = open_queue(site, *cell, spec);
    entry.cell = std::move(cell);
  }
  if (entry.queue->spec == spec) return {};
  return invalid_argument("queue '" + spec.name + "' is there as " + entry.queue->spec.text() +
                          ", wanted as " + spec.text());
}

void QueueTable::end(const DeviceSite& site, const StateCell& cell) {
  const std::lock_guard lock(mutex_);
  const auto ended = queues_.extract(&cell);
  if (ended.empty()) return;
  const Queue& queue = *ended.mapped().queue;
  site.supervisor->drop(queue.address);
  site.node.engine.stop(queue.actor.get());
}

std::shared_ptr<const Queue> QueueTable::find(const StateCell& cell) const {
  const std::lock_guard lock(mutex_);
  const auto at = queues_.find(&cell);
  return at == queues_.end() ? nullptr : at->second.queue;
}

}  // namespace troupe
