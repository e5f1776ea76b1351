// The queue role: one actor per queue, first in, first out (features.md E1-E5, E9, E10). Who must wait for room or for elements
// waits as an attempt kept by the actor: no thread waits, and whatever ends a step takes its attempts out again.
// Spawned through the QueueTable of a device's site. Schema: messages/schemas/queue.capnp.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "actors/engine/node.h"
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

/// `device` gives the memory for stacked elements, which must be the host's.
ActorRef spawn_queue(ActorNode& node, QueueSpec spec, std::shared_ptr<Device> device);

}  // namespace troupe
