// The queue role: one actor per queue, first in, first out (features.md E1-E5, E9, E10). An enqueue that must wait for room and a
// dequeue that must wait for elements are attempts kept by the actor; no thread waits. When a step ends, its attempts are removed.
// The queue service starts the role. Schema: messages/schemas/queue.capnp.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "actors/engine/node.h"
#include "actors/engine/role.h"
#include "devices/device.h"

namespace troupe {

/// The name of a queue, the components of its elements, and its capacity.
struct QueueSpec {
  std::string name;          ///< the name of its state
  std::vector<DType> types;  ///< the dtypes of the components of an element
  /// The shapes of the components; empty: any shapes, but then elements cannot be stacked.
  std::vector<Shape> shapes;
  int64_t capacity = -1;  ///< the most elements that it holds; -1: any number

  /// Returns "(float[2], int32[]), capacity 8", for example.
  std::string text() const;
  friend bool operator==(const QueueSpec&, const QueueSpec&) = default;
};

/// Returns what the queue of a FIFOQueue or FIFOQueueV2 holds. Fails with InvalidArgument if its shapes are not fully known or
/// not one per component.
Result<QueueSpec> queue_spec(const Node& handle);

/// Returns the role of an empty queue. Stacked elements are allocated on `device`, whose memory must be host memory.
std::unique_ptr<Role> make_queue(ActorNode& node, QueueSpec spec, std::shared_ptr<Device> device);

}  // namespace troupe
