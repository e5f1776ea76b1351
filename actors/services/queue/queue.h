// The queue role: one actor per queue, first in, first out (features.md E1-E5, E9, E10). Who must wait for room or for elements
// waits as an attempt kept by the actor: no thread waits, and whatever ends a step takes its attempts out again.
// Started by the queue service. Schema: messages/schemas/queue.capnp.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "actors/engine/node.h"
#include "actors/engine/role.h"
#include "devices/device.h"

namespace troupe {

/// What a queue holds.
struct QueueSpec {
  std::string name;           ///< of its state
  std::vector<DType> types;   ///< of the components of an element
  std::vector<Shape> shapes;  ///< of the components; empty: any, and then elements cannot be stacked
  int64_t capacity = -1;      ///< in elements; -1: any number of them

  /// "(float[2], int32[]), capacity 8".
  std::string text() const;
  friend bool operator==(const QueueSpec&, const QueueSpec&) = default;
};

/// What the queue is that a FIFOQueue or FIFOQueueV2 stands for. InvalidArgument if its shapes are not fully known or not one per
/// component.
Result<QueueSpec> queue_spec(const Node& handle);

/// The actor of an empty queue. `device` gives the memory for stacked elements, which must be the host's.
std::unique_ptr<Role> make_queue(ActorNode& node, QueueSpec spec, std::shared_ptr<Device> device);

}  // namespace troupe
